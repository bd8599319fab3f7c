# SPDX-License-Identifier: GPL-2.0-or-later
"""Dashboards and alert rules as files: as they are made, whole, and such that any Grafana and any person can read them."""
import json
import os
import re
import subprocess
import sys
import unittest

import grafana
from asked import DASHBOARDS, Rules
from harness import SOURCE

BOARDS = {"bursts", "capacity", "cluster", "fleet", "job", "latency", "node", "profiles", "storage"}


class TestFiles(unittest.TestCase):
    def test_all_are_there(self):
        self.assertEqual(set(DASHBOARDS), BOARDS)

    def test_they_are_as_made(self):
        subprocess.run([sys.executable, os.path.join(SOURCE, "dashboards/source/make"), "--check"], check=True)

    def test_alert_rules_are_whole(self):
        names = set(Rules.RULES)
        self.assertEqual(names, {"node-silent", "loss", "dropped", "hang", "p99", "metadata-storm", "headroom",
                                 "growth", "full", "used-growth"})
        for rule in Rules.RULES.values():
            query, threshold = rule["data"]
            self.assertEqual((rule["condition"], query["datasourceUid"], threshold["model"]["expression"]),
                             ("B", "unblend", "A"))
            # Provisioning expands variables of the environment in labels, with $$ for a $, but leaves annotations as they stand.
            self.assertNotIn("$", json.dumps(rule))
            self.assertIn("{{ .Labels.", rule["annotations"]["summary"])
            self.assertRegex(rule["annotations"]["summary"], r"{{ with .Values.A }}{{ humanize\w* .Value }}{{ end }}")

    def test_any_grafana_loads_them(self):
        """A fixed uid, no identity of a server, classic JSON, the data source by variable and by its oldest name."""
        for name, dashboard in DASHBOARDS.items():
            with self.subTest(dashboard=name):
                self.assertEqual((dashboard["uid"], dashboard.get("id"), dashboard["schemaVersion"]),
                                 ("unblend-" + name, None, 38))
                self.assertTrue({"panels", "templating", "annotations", "links", "time"} <= set(dashboard))
                source, = [v for v in dashboard["templating"]["list"] if v["type"] == "datasource"]
                self.assertEqual((source["name"], source["query"]), ("datasource", "postgres"))
                for _, _, target, panel in grafana.queries(dashboard):
                    for where in (target, panel):
                        self.assertIn(where.get("datasource"), ({"type": "postgres", "uid": "${datasource}"}, None))
                self.assertEqual(len({panel["id"] for panel in dashboard["panels"]}), len(dashboard["panels"]))

    def test_people_understand_them(self):
        for name, dashboard in DASHBOARDS.items():
            self.assertTrue(dashboard["description"])
            titles = [title for title, *_ in grafana.queries(dashboard)]
            self.assertEqual(len(set(titles)), len(titles), titles)
            for panel in dashboard["panels"]:
                with self.subTest(dashboard=name, panel=panel["title"]):
                    if panel["type"] == "row":
                        continue
                    defaults = panel["fieldConfig"]["defaults"]
                    self.assertGreater(len(panel["description"]), 15)
                    self.assertTrue(defaults["unit"] and defaults["noValue"])
                    for step in defaults["thresholds"]["steps"][1:]:
                        self.assertGreater(step["value"], 0)

    def test_what_an_empty_panel_says_is_in_no_cell(self):
        """Nor at an axis; and texts are not taken for numbers, as a user named 1000 would be by the unit of the rest."""
        for dashboard in DASHBOARDS.values():
            for _, kind, _, panel in grafana.queries(dashboard):
                if kind not in ("timeseries", "table"):
                    continue
                found = {override["matcher"]["options"]: {p["id"]: p["value"] for p in override["properties"]}
                         for override in panel["fieldConfig"]["overrides"]}
                self.assertEqual(found["/.*/"], {"noValue": ""}, panel["title"])
                if kind == "table":
                    self.assertEqual(found["string"]["unit"], "string", panel["title"])

    def test_panels_do_not_overlap(self):
        for name, dashboard in DASHBOARDS.items():
            taken = {}
            for panel in dashboard["panels"]:
                place = panel["gridPos"]
                self.assertLessEqual(place["x"] + place["w"], 24)
                for x in range(place["x"], place["x"] + place["w"]):
                    for y in range(place["y"], place["y"] + place["h"]):
                        self.assertNotIn((x, y), taken, (name, panel["title"]))
                        taken[x, y] = panel["title"]

    def test_what_happened_stands_at_the_axes(self):
        """Bursts and checkpoints wherever demand or what it leads to is drawn over time."""
        bursts = {"cluster", "profiles", "bursts", "latency", "node", "storage", "capacity"}
        checkpoints = {"cluster", "profiles", "bursts", "latency", "node", "storage", "job"}
        for name, dashboard in DASHBOARDS.items():
            shown = {a["name"] for a in dashboard["annotations"]["list"] if a["enable"] and "target" in a}
            self.assertEqual("Bursts" in shown, name in bursts, name)
            self.assertEqual("Checkpoints" in shown, name in checkpoints, name)
        self.assertIn("Write bursts", {a["name"] for a in DASHBOARDS["job"]["annotations"]["list"]})

    def test_links_arrive(self):
        """Wherever a link leads, there is a dashboard with those variables; and time and cluster go along."""
        count = 0
        for dashboard in DASHBOARDS.values():
            own = {variable["name"] for variable in dashboard["templating"]["list"]}
            self.assertTrue(dashboard["links"][0]["keepTime"] and dashboard["links"][0]["includeVars"])
            for url in re.findall(r'"url": "(/d/[^"]+)"', json.dumps(dashboard)):
                board, names = re.fullmatch(r"/d/unblend-(\w+)\?(.*)", url).groups()
                there = {variable["name"] for variable in DASHBOARDS[board]["templating"]["list"]}
                self.assertLessEqual(set(re.findall(r"var-(\w+)=", names)), there, url)
                self.assertLessEqual(set(re.findall(r"\$\{(\w+):queryparam\}", names)) - {"__url_time_range"},
                                     own & there)
                self.assertIn("${__url_time_range}", names)
                count += 1
        self.assertGreater(count, 12)
