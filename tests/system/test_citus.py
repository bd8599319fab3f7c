#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""That the schema can be distributed: by the catalog, and by the statements that a collector really sends.

Citus itself is not needed. UNBLEND_BINDIR as for collecting.py."""

import glob
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import collecting  # noqa: E402
from collecting import Collector, batch, command  # noqa: E402

setUpModule, tearDownModule = collecting.setUpModule, collecting.tearDownModule
SCRIPT = os.path.join(HERE, "../../collector/schema/citus.sql")
# on the coordinator alone: who may come in, the ledger, and what is about the whole database
LOCAL = {"token", "stream", "gap", "ledger", "dropped", "migration", "tier", "kept", "join_token", "enrolment", "site",
         "outbox", "cover_1h"}


def script():
    with open(SCRIPT, encoding="utf-8") as file:
        text = file.read()
    spread = {name: (column, near) for name, column, near in re.findall(
        r"create_distributed_table\('unblend\.(\w+)', '(\w+)', colocate_with => '(?:unblend\.)?(\w+)'\)", text)}
    return spread, set(re.findall(r"create_reference_table\('unblend\.(\w+)'\)", text))


class TestCitus(collecting.Database):
    def setUp(self):
        pass

    def names(self, query):
        return set(self.sql(query).split())

    def test_every_table_has_its_place(self):
        spread, everywhere = script()
        tables = self.names("select relname from pg_class where relnamespace = 'unblend'::regnamespace "
                            "and relkind in ('r', 'p') and not relispartition")
        self.assertEqual(set(spread) | everywhere, tables - LOCAL)
        self.assertFalse(set(spread) & everywhere)

    def test_unique_keys_hold_the_distribution_column(self):
        spread, _ = script()
        for table, (column, _) in spread.items():
            for keys in self.sql(
                    "select array_to_string(array(select attname from pg_attribute as a "
                    "where a.attrelid = i.indrelid and a.attnum = any(i.indkey)), ',') "
                    "from pg_index as i where indisunique and (indrelid = "
                    f"'unblend.{table}'::regclass or indrelid in (select inhrelid from pg_inherits where inhparent = "
                    f"'unblend.{table}'::regclass))").split():
                self.assertIn(column, keys.split(","), table)
            self.assertEqual(self.sql("select attnotnull from pg_attribute where attname = "
                                      f"'{column}' and attrelid = 'unblend.{table}'::regclass"), "t", table)

    def test_neighbours_have_one_type_of_key(self):
        spread, _ = script()
        for table, (column, near) in spread.items():
            if near != "none":
                self.assertIn(near, spread)
                self.assertEqual(*(self.sql(f"select atttypid::regtype from pg_attribute where attname = '{c}' and "
                                            f"attrelid = 'unblend.{t}'::regclass")
                                   for t, c in ((table, column), (near, spread[near][0]))), table)

    def test_foreign_keys_point_to_reference_tables(self):
        spread, everywhere = script()
        for line in self.sql("select conrelid::regclass::name, confrelid::regclass::name from pg_constraint "
                             "where contype = 'f' and connamespace = 'unblend'::regnamespace").split():
            table, target = (name.removeprefix("unblend.") for name in line.split("|"))
            self.assertNotIn(target, spread, line)
            if table in spread or table in everywhere:
                self.assertIn(target, everywhere, line)

    def test_what_a_collector_sends(self):
        """Every statement that writes to a distributed table names its distribution column, and is of a kind that Citus
        takes: no ON CONFLICT, no UPDATE, no WITH that changes rows."""
        spread, _ = script()
        self.sql("alter system set log_statement = 'all'")
        self.sql("select pg_reload_conf()")
        now = int(time.time()) // 3600 * 3600
        for seq, hours in enumerate((2, 2, 30, 24 * 5)):
            status, _ = self.collector.post(batch(seq, start_ns=(now - hours * 3600) * 10**9), self.token)
            self.assertEqual(status, 200)
        deadline = time.monotonic() + 60
        while self.sql("select count(*) from unblend.pending_1m") != "0" and time.monotonic() < deadline:
            time.sleep(0.2)
        done = command("prune", "--db", self.conninfo, "--keep-raw", "6h")
        self.assertEqual((done.returncode, done.stderr.count("cannot")), (0, 0), done.stderr)
        text = ""
        for path in glob.glob(os.path.join(self.directory, "data/log/*")):
            with open(path, errors="replace") as file:
                text += file.read()
        statements = re.findall(r"(?:statement|execute [^:]*): (.*(?:\n\t.*)*)", text)
        wrote = set()
        for statement in (" ".join(s.split()) for s in statements):
            for verb, table in re.findall(r"\b(insert into|update|delete from|copy) unblend\.(\w+)", statement):
                table = re.sub(r"_(default|[0-9]{6,10})$", "", table)
                if table not in spread:
                    continue
                if ("unblend." + table + " select * from" in statement
                        or re.search(r"_[0-9]{6,10} select \* from", statement)):
                    continue  # a partition that is not attached yet
                wrote.add((verb, table))
                self.assertNotEqual(verb, "update", statement)
                self.assertNotIn("on conflict", statement)
                self.assertFalse(re.search(r"\bas (materialized )?\((insert|update|delete)", statement), statement)
                if verb != "delete from":
                    self.assertIn(spread[table][0], statement)
                elif " using " in statement or " in (select" in statement:
                    self.assertRegex(statement, r"s\.node_id = b\.node_id|q\.node_id")
        self.assertLessEqual({("copy", "batch"), ("copy", "sample"), ("copy", "pending_1m"),
                              ("insert into", "batch_1m"), ("copy", "sample_1m"), ("copy", "total_1m"),
                              ("copy", "demand_1m"), ("copy", "pending_1h"), ("delete from", "pending_1m")}, wrote)

    def test_without_the_extension(self):
        done = command("init-db", "--citus", "--db", self.conninfo)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr,
                         r"^unblend-collector: cannot distribute the tables: the database has no extension "
                                      r"citus: [^\n]*\n$")
