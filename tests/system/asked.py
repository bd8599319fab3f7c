# SPDX-License-Identifier: GPL-2.0-or-later
"""Dashboards and alert rules as Grafana asks them: by a role that may read the views only."""
import glob
import json
import os

import grafana
from collecting import Database
from harness import SOURCE

DASHBOARDS = {os.path.basename(path)[:-5]: grafana.load(path)
              for path in sorted(glob.glob(os.path.join(SOURCE, "dashboards/*.json")))}


class Rules:
    """Alert rules, asked about some time instead of now."""
    RULES = {rule["uid"][8:]: rule for group in
             grafana.load(os.path.join(SOURCE, "dashboards/provisioning/alerting/unblend.json"))["groups"]
             for rule in group["rules"]}

    def instances(self, name, now):
        """Rows of a rule: labels that are texts, and one number."""
        sql = self.RULES[name]["data"][0]["model"]["rawSql"].replace("now()", f"to_timestamp({now})")
        rows = self.ask(sql)
        for row in rows:
            numbers = [value for value in row.values() if isinstance(value, (int, float))]
            self.assertEqual((len(numbers), {type(value) for value in row.values() if value not in numbers}),
                             (1, {str}), row)
        return rows

    def above(self, name):
        return self.RULES[name]["data"][1]["model"]["conditions"][0]["evaluator"]["params"][0]


class Asked(Database):
    """Queries as Grafana sends them, by its role."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.addClassCleanup(cls.collector.stop)  # when setting up fails, too
        cls.sql("create role grafana login")
        cls.sql("select unblend.grant_reader('grafana')")
        cls.session = grafana.Session(cls.conninfo, "grafana")
        cls.addClassCleanup(cls.session.close)

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        pass  # keep the rows

    def ask(self, sql):
        return json.loads(self.session.ask(f"select coalesce(json_agg(q), '[]') from ({sql}\n) as q"))

    def chosen(self, name, **values):
        return grafana.choose(DASHBOARDS[name], self.since, self.until, self.ask, {"cluster": [self.cluster], **values})

    def panel(self, board, title, **values):
        found = [(target, panel) for name, _, target, panel in grafana.queries(DASHBOARDS[board]) if name == title]
        self.assertTrue(found, title)
        target, panel = found[0]
        return self.ask(grafana.expand(target["rawSql"], self.since, self.until,
                                       grafana.interval_of(self.until - self.since, panel),
                                       self.chosen(board, **values)))
