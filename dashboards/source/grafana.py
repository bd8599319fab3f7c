# SPDX-License-Identifier: GPL-2.0-or-later
"""What a Grafana dashboard is made of: classic JSON that Grafana 10 to 13 load unchanged. Every function returns plain
dictionaries; rows of panels are laid out by dashboard(), and nothing has an id but panels, which need one."""

# Grafana 10 knows this plugin as postgres, later ones as grafana-postgresql-datasource, which answers to the old name.
PLUGIN = "postgres"
SOURCE = {"type": PLUGIN, "uid": "${datasource}"}
TIMES = "$__timeFrom(), $__timeTo()"
STEP = "'$__interval'"
WIDTH = 24

NO_DATA = ("Nothing was collected for this choice in this span of time. Widen the span, or see Fleet health for nodes "
           "that are silent.")
HOURS_2 = {"from": "now-2h", "to": "now"}


def values(name):
    """The chosen values of a variable, as an array."""
    return "array[${%s:sqlstring}]::text[]" % name


CLUSTERS = values("cluster")


def kind_of(subject, names):
    """A subject as a text of SQL; where All is chosen of a variable, the cluster stands for all of them together."""
    return f"'{subject}'" if "array" not in names or subject == "node" else \
        f"case when array_position({names}, null) is null then '{subject}' else 'cluster' end"


def demand(subject, names="null", step=STEP, together=False):
    """together: rows of single names are not wanted."""
    return f"unblend.demand({kind_of(subject, names) if together else repr(subject)}, {CLUSTERS}, {names}, {TIMES}, {step})"


def operations(subject, names="null", only="null", step=STEP, together=False):
    return f"unblend.operations({kind_of(subject, names) if together else repr(subject)}, {CLUSTERS}, {names}, {only}, {TIMES}, {step})"


def quantiles(subject, names, only, metric, quantile, by="op", step=STEP):
    return (f"unblend.quantiles('{subject}', {CLUSTERS}, {names}, {only}, '{metric}', {TIMES}, {step}, "
            f"array[{quantile}], '{by}')")


def coverage(nodes="null", step=STEP):
    return f"unblend.coverage({CLUSTERS}, {nodes}, {TIMES}, {step})"


def stalls(jobs, by="", step=STEP):
    return f"unblend.stalls({CLUSTERS}, {jobs}, {TIMES}, {step}, '{by}')"


def series(nodes, jobs, by, step=STEP):
    return f"unblend.series({CLUSTERS}, {nodes}, {jobs}, {TIMES}, {step}, '{by}')"


def cells_by_octave(subject, names, only, metric, first, last):
    """A column an octave, from the smallest up, as a heatmap takes them: its rows are a frame's numeric fields, in their
    order, named by what they begin with. What lies outside goes to the outermost."""
    columns = []
    for octave in range(first, last + 1):
        low, high = 8 * (octave - 2), 8 * (octave - 1)  # bucket 8 is worth 8: octaves begin at multiples of eight
        where = (f"c.bucket < {high}" if octave == first else f"c.bucket >= {low}" if octave == last
                 else f"c.bucket >= {low} and c.bucket < {high}")
        columns.append(f'sum(c.count) filter (where {where})::float8 as "{0 if octave == first else 1 << octave}"')
    return ("select c.time, " + ",\n  ".join(columns) +
            f"\nfrom unblend.cells('{subject}', {CLUSTERS}, {names}, {only}, "
            f"'{metric}', {TIMES}, {STEP}, '') as c\ngroup by 1 order by 1")


# What a panel says when it is empty would else stand in each cell that has no value, at gaps and, in Grafana 10, at lines of
# logarithmic axes.
BLANK = {"matcher": {"id": "byRegexp", "options": "/.*/"}, "properties": [{"id": "noValue", "value": ""}]}


def of_type(kind, **properties):
    return {"matcher": {"id": "byType", "options": kind},
            "properties": [{"id": name, "value": value} for name, value in properties.items()]}


def link(title, board, **variables):
    """To another dashboard, with the time and the choices made here."""
    more = "".join(f"&var-{name}={value}" for name, value in variables.items())
    return {"title": title, "targetBlank": False,
            "url": f"/d/unblend-{board}?${{datasource:queryparam}}&${{cluster:queryparam}}{more}&${{__url_time_range}}"}


def target(sql, form):
    return {"refId": "A", "datasource": SOURCE, "editorMode": "code", "format": form, "rawQuery": True, "rawSql": sql}


def panel(kind, title, about, sql, form, unit, options, width, height, **more):
    defaults = {"custom": more.pop("custom", {}), "unit": unit, "noValue": more.pop("empty", NO_DATA),
                "mappings": more.pop("mappings", []),
                "color": more.pop("color", {"mode": "palette-classic"}),
                "thresholds": thresholds(more.pop("limits", None))}
    for name in ("min", "max", "decimals", "links"):
        if name in more:
            defaults[name] = more.pop(name)
    interval = more.pop("interval", "1m")
    return {"type": kind, "title": title, "description": about, "datasource": SOURCE,
            "gridPos": {"x": 0, "y": 0, "w": width, "h": height}, "interval": interval,
            "targets": [target(sql, form)], "options": options, "transparent": False,
            "fieldConfig": {"defaults": defaults, "overrides": more.pop("overrides", [])}, **more}


def thresholds(limits):
    """[(value, colour)...] from the one that begins at any value."""
    steps = [{"value": None, "color": "text"}] if not limits else []
    return {"mode": "absolute", "steps": steps + [{"value": value, "color": color} for value, color in limits or []]}


def timeseries(title, about, sql, unit, width=12, height=8, stack=False, bars=False, **more):
    custom = {"drawStyle": "bars" if bars else "line", "lineWidth": 1, "fillOpacity": 60 if stack or bars else 10,
              "showPoints": "auto", "spanNulls": False, "lineInterpolation": "linear", "gradientMode": "none",
              "axisPlacement": "auto", "axisLabel": "", "axisSoftMin": 0, "pointSize": 4,
              "stacking": {"mode": "normal" if stack is True else stack or "none", "group": "A"},
              "thresholdsStyle": {"mode": "line" if more.get("limits") else "off"}, **more.pop("custom", {})}
    # Below a panel of this height there is room for a table of three series: more go to the right of wide ones, and
    # stand side by side in narrow ones.
    many = " as metric" in sql or more.pop("many", False)
    aside = width > 12 or (many and width == 12)
    listed = many and not aside
    options = {"legend": {"displayMode": "list" if listed else "table", "placement": "right" if aside else "bottom",
                          "calcs": [] if listed else ["mean", "max"], "showLegend": True},
               "tooltip": {"mode": "multi", "sort": "desc"}}
    return panel("timeseries", title, about, sql, "time_series", unit, options, width, height, custom=custom,
                 overrides=[BLANK, *more.pop("overrides", [])], **more)


def stat(title, about, sql, unit, limits=None, width=4, height=4, calc="lastNotNull", graph=True, **more):
    options = {"colorMode": "value", "graphMode": "area" if graph else "none", "justifyMode": "auto",
               "orientation": "auto", "textMode": "auto",
               "reduceOptions": {"calcs": [calc], "fields": "", "values": False}}
    return panel("stat", title, about, sql, "time_series" if graph else "table", unit, options, width, height,
                 limits=limits, color={"mode": "thresholds"}, empty=more.pop("empty", "no data"), **more)


def table(title, about, sql, width=12, height=9, units=None, links=None, colors=None, widths=None, **more):
    """units: {column: unit}; links: {column: [link]}; colors: {column: limits}; widths: {column: pixels}."""
    overrides = [BLANK, of_type("string", unit="string", **{"custom.filterable": True}),  # or the user 1000 were 1 K
                 of_type("time", unit="time:YYYY-MM-DD HH:mm", **{"custom.width": 143})]
    for column in dict.fromkeys([*(units or {}), *(links or {}), *(colors or {}), *(widths or {})]):
        properties = []
        if column in (widths or {}):
            properties.append({"id": "custom.width", "value": widths[column]})
        if column in (units or {}):
            properties.append({"id": "unit", "value": units[column]})
        if column in (links or {}):
            properties.append({"id": "links", "value": links[column]})
        if column in (colors or {}):
            properties += [{"id": "custom.cellOptions", "value": {"type": "color-text"}},
                           {"id": "color", "value": {"mode": "thresholds"}},
                           {"id": "thresholds", "value": thresholds(colors[column])}]
        overrides.append({"matcher": {"id": "byName", "options": column}, "properties": properties})
    options = {"showHeader": True, "cellHeight": "sm", "sortBy": []}
    custom = {"align": "auto", "cellOptions": {"type": "auto"}, "filterable": False, "inspect": False, "minWidth": 80}
    return panel("table", title, about, sql, "table", "short", options, width, height, custom=custom,
                 overrides=overrides, **more)


def heatmap(title, about, sql, unit, width=12, height=9, **more):
    options = {"calculate": False, "cellGap": 1, "cellRadius": 0,
               "color": {"mode": "scheme", "scheme": "Oranges", "scale": "exponential", "exponent": 0.5, "steps": 64,
                         "reverse": False, "fill": "dark-orange"},
               "rowsFrame": {"layout": "ge", "value": "count"}, "yAxis": {"axisPlacement": "left", "unit": unit,
                                                                        "decimals": 0, "reverse": False},
               "cellValues": {"unit": "short"}, "filterValues": {"le": 1e-9}, "showValue": "never",
               "tooltip": {"yHistogram": True}, "legend": {"show": True},
               "exemplars": {"color": "rgba(255,0,255,0.7)"}}
    custom = {"scaleDistribution": {"type": "linear"}, "hideFrom": {"legend": False, "tooltip": False, "viz": False}}
    return panel("heatmap", title, about, sql, "time_series", "short", options, width, height, custom=custom, **more)


def states(title, about, sql, colors, width=24, height=5, points=100, **more):
    """A name at a time; colors: {name: colour}."""
    options = {"mergeValues": True, "showValue": "auto", "alignValue": "left", "rowHeight": 0.9,
               "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
               "tooltip": {"mode": "single", "sort": "none"}}
    mappings = [{"type": "value", "options": {name: {"color": color, "index": i} for i, (name, color) in enumerate(colors.items())}}]
    return panel("state-timeline", title, about, sql, "table", "string", options, width, height,
                 custom={"fillOpacity": 70, "lineWidth": 0}, mappings=mappings, maxDataPoints=points, **more)


def row(title):
    return {"type": "row", "title": title, "collapsed": False, "panels": [],
            "gridPos": {"x": 0, "y": 0, "w": WIDTH, "h": 1}}


def query_variable(name, label, sql, multi=False, refresh=1, about="", everything=None):
    """everything: what stands for All where a list of all would be too long; else All is that list."""
    current = {"selected": True, "text": ["All"], "value": ["$__all"]} if multi else {}
    return {"name": name, "type": "query", "label": label, "description": about, "datasource": SOURCE, "query": sql,
            "refresh": refresh, "sort": 0, "multi": multi, "includeAll": multi, "hide": 0,
            "options": [], "current": current, "regex": "", "skipUrlSync": False,
            **({"allValue": everything} if everything else {})}


def choice_variable(name, label, choices, chosen, about="", multi=False):
    options = [{"text": text, "value": text, "selected": text in chosen} for text in choices]
    current = {"selected": True, "text": chosen if multi else chosen[0], "value": chosen if multi else chosen[0]}
    return {"name": name, "type": "custom", "label": label, "description": about, "query": ",".join(choices),
            "options": options, "current": current, "multi": multi, "includeAll": False, "hide": 0,
            "skipUrlSync": False}


def text_variable(name, label, value, about):
    entry = {"text": value, "value": value, "selected": True}
    return {"name": name, "type": "textbox", "label": label, "description": about, "query": value, "options": [entry],
            "current": entry, "hide": 0, "skipUrlSync": False}


JOB = query_variable("job", "Job", f"select name from {demand('job', step='null')} as d\n"
                     "order by read_bytes + write_bytes desc, name limit 500", refresh=2,
                     about="Jobs of this span of time, those that moved most first.")
JOBS = query_variable("job", "Job", JOB["query"], multi=True, refresh=2, about=JOB["description"], everything="null")
NODE = query_variable("node", "Node",
                      "select node from unblend.nodes where cluster in (${cluster:sqlstring}) order by 1")
VOLUMES = query_variable("volume", "Volume", "select distinct name from unblend.subjects where subject = 'volume'\n"
                         "  and cluster in (${cluster:sqlstring}) order by 1", multi=True, everything="null")


def annotation(name, color, sql, enable=True):
    return {"name": name, "datasource": SOURCE, "enable": enable, "hide": False, "iconColor": color,
            "target": {"refId": "Anno", "datasource": SOURCE, "editorMode": "code", "format": "table", "rawQuery": True,
                       "rawSql": sql}}


def dashboard(name, title, about, variables, rows, annotations=(), span=None, refresh="1m"):
    """rows: lists of panels, beside each other as long as there is room."""
    panels, x, y, height = [], 0, 0, 0
    for entry in (entry for line in rows for entry in [None, *line]):
        place = entry and entry["gridPos"]
        if place is None or x + place["w"] > WIDTH:
            x, y, height = 0, y + height, 0
        if place is None:
            continue
        place.update(x=x, y=y)
        x, height = x + place["w"], max(height, place["h"])
        panels.append({"id": len(panels) + 1, **entry})
    built_in = {"builtIn": 1, "datasource": {"type": "grafana", "uid": "-- Grafana --"}, "enable": True, "hide": True,
                "iconColor": "rgba(0, 211, 255, 1)", "name": "Annotations & Alerts", "type": "dashboard"}
    source = {"name": "datasource", "type": "datasource", "label": "Database", "description": "", "query": PLUGIN,
              "refresh": 1, "regex": "", "hide": 0, "multi": False, "includeAll": False, "options": [], "current": {},
              "skipUrlSync": False}
    clusters = query_variable("cluster", "Cluster", "select distinct cluster from unblend.nodes order by 1", multi=True)
    return {"uid": f"unblend-{name}", "title": f"Unblend: {title}", "description": about,
            "tags": ["unblend", "storage"],
            "schemaVersion": 38, "version": 1, "editable": True, "graphTooltip": 1, "fiscalYearStartMonth": 0,
            "refresh": refresh, "time": span or HOURS_2, "timezone": "", "weekStart": "", "liveNow": False,
            "timepicker": {},
            "links": [{"type": "dashboards", "title": "Unblend", "tags": ["unblend"], "asDropdown": True,
                       "includeVars": True, "keepTime": True, "targetBlank": False, "icon": "external link",
                       "tooltip": "The other dashboards, with this time and these choices", "url": ""}],
            "annotations": {"list": [built_in, *annotations]},
            "templating": {"list": [source, clusters, *variables]}, "panels": panels}
