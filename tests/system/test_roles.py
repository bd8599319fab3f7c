#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Three roles in the database: the owner makes and drops, the writer is what collectors run as, the reader has the
views."""
import subprocess
import time
import unittest

import harness
import collecting
from collecting import Collector, batch, command, setUpModule, tearDownModule  # noqa: F401
from test_delivery import until

SECRETS = ("token", "join_token", "site")
DENIED = "(?i)permission denied|must be owner|must be superuser"


class RolesTest(collecting.Database):
    database = "unblend"

    @classmethod
    def let_in(cls, *roles):
        """A private database knows no roles but its owner: these need no password here."""
        path = cls.sql("show hba_file")
        with open(path, encoding="utf-8") as file:
            rules = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(f'local all "{role}" trust\n' for role in roles) + rules)
        cls.sql("select pg_reload_conf()")
        for role in roles:
            until(lambda: cls.as_role(role, "select 1")[0] == 0, f"{role} gets in")

    @classmethod
    def words(cls, role):
        return f"host={cls.directory} port=5432 dbname={cls.database} user='{role}'"

    @classmethod
    def as_role(cls, role, query):
        """(status, what it said) of psql as that role: a session of its own, not a role taken on by the owner."""
        done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", cls.words(role), "-c", query],
                              capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout.strip() or done.stderr

    def may(self, role, query):
        status, said = self.as_role(role, query)
        self.assertEqual(status, 0, f"{role}: {query}: {said}")
        return said

    def may_not(self, role, query):
        status, said = self.as_role(role, query)
        self.assertNotEqual(status, 0, f"{role} may: {query}")
        self.assertRegex(said, DENIED, f"{role}: {query}")


class TestRoles(RolesTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for role in ("writer", "reader"):
            done = command("init-db", "--embedded", cls.directory, "--" + role, f"a {role}")
            assert (done.returncode, done.stderr) == (0, ""), done.stderr
        cls.let_in("a writer", "a reader")

    def relations(self, kinds):
        found = self.sql("select relname from pg_class where relnamespace = 'unblend'::regnamespace and "
                         f"relkind in ({kinds}) and not relispartition order by 1").splitlines()
        self.assertGreater(len(found), 5)
        return found

    def granted(self, role, rights, kinds):
        """What of the schema a role has any of these rights on."""
        return self.sql(f"select string_agg(relname, ' ') from pg_class "
                        f"where relnamespace = 'unblend'::regnamespace and relkind in ({kinds}) "
                        f"and has_table_privilege('{role}', oid, '{rights}')")

    def test_the_reader_reads_views_and_nothing_else(self):
        self.assertEqual(self.collector.post(batch(1), self.token)[0], 200)
        self.may("a reader", "; ".join(f"select * from unblend.{view} limit 1" for view in self.relations("'v'")))
        self.assertEqual(self.may("a reader", "select sum(ops) from unblend.samples"), "1")
        self.assertEqual(self.granted("a reader", "insert, update, delete, truncate, trigger", "'v'"), "")
        self.assertEqual(self.granted("a reader", "select, insert, update, delete, truncate, trigger", "'r', 'p'"), "")
        for table in ("sample", *SECRETS):
            self.may_not("a reader", f"select * from unblend.{table}")
        self.may_not("a reader", "create table unblend.mine (n integer)")
        self.may_not("a reader", "drop view unblend.samples")
        for secret in SECRETS:
            self.assertNotIn(secret, self.relations("'v'"))

    def test_the_writer_stores_and_makes_nothing(self):
        """A collector of the writer's, beside the owner's: it takes batches, and knows the same nodes."""
        words = self.words("a writer")
        collector = Collector("--db", words)
        self.addCleanup(collector.stop)
        collector.wait_ready()
        self.assertEqual(collector.post(batch(1), self.token)[0], 200)
        self.assertEqual(collector.post(batch(2), self.token)[0], 200)
        self.assertEqual(self.collector.post(batch(2), self.token)[0], 200)
        self.assertEqual(collector.post(batch(2, boot_id="other"), self.token)[0], 409)
        self.assertEqual(self.sums(), "2|3|12288")
        done = command("enroll", "n2", "--db", words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.collector.post(batch(1, node="n2"), done.stdout.strip())[0], 200)
        for query in ("drop table unblend.sample", "alter table unblend.token add column more text",
                      "drop schema unblend cascade", "create table unblend.mine (n integer)",
                      "truncate unblend.sample", "delete from unblend.migration",
                      "update unblend.migration set name = name", "drop view unblend.samples",
                      "select * from pg_authid", "copy unblend.sample to program 'true'", "create role more"):
            self.may_not("a writer", query)
        self.assertEqual(self.sums(), "3|4|16384")

    def test_the_owner_makes_partitions_and_drops_them(self):
        done = command("prune", "--embedded", self.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.sql("select count(*) > 0 from pg_class where relispartition and relkind = 'r'"), "t")

    def test_no_role_but_the_owner_is_above_the_others(self):
        self.assertEqual(self.sql("select string_agg(rolname, ',' order by rolname) from pg_roles "
                                  "where rolname like 'a %' and (rolsuper or rolcreaterole or rolcreatedb "
                                  "or rolreplication or rolbypassrls)"), "")
        for role in ("a writer", "a reader"):
            for other in ("unblend", "a reader" if role == "a writer" else "a writer"):
                self.may_not(role, f"set role \"{other}\"")


class TestManaged(RolesTest):
    """A database on a server of somebody else's, whose owner may do nothing beyond it."""
    database = "managed"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sql("create role plain login", "create database managed owner plain")
        cls.let_in("plain")

    def ran(self, *words):
        done = command(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def test_a_database_of_a_role_that_is_nothing_else(self):
        owner = self.words("plain")
        self.assertEqual(self.may("plain", "select rolsuper or rolcreaterole or rolcreatedb or rolbypassrls "
                                           "from pg_roles where rolname = session_user"), "f")
        self.ran("init-db", "--db", owner)
        done = command("init-db", "--db", owner, "--writer", "pen")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertRegex(done.stderr, "the role pen: permission denied to create role.*: make it")
        self.sql("create role pen login", "create role eye login")
        self.let_in("pen", "eye")
        self.ran("init-db", "--db", owner, "--writer", "pen", "--reader", "eye")
        token = self.ran("enroll", "n1", "--db", owner).strip()
        collector = Collector("--db", self.words("pen"))
        self.addCleanup(collector.stop)
        collector.wait_ready()
        start_ns = (int(time.time()) - 300) * 10**9
        for seq in (1, 2, 2):
            self.assertEqual(collector.post(batch(seq, start_ns=start_ns + seq * 10**10), token)[0], 200)
        until(lambda: self.may("eye", "select sum(ops) from unblend.samples_1m") == "3",
              "the writer's collector sums up", seconds=60)
        self.may("plain", "revoke select on unblend.pending_1m from pen")
        self.assertRegex(command("prune", "--db", self.words("pen")).stderr,
                         "cannot prune: permission denied.*: run it as the owner of the tables")
        self.ran("prune", "--db", owner)
        self.assertEqual(self.may("eye", "select count(*), sum(bytes) from unblend.samples"), "2|12288")
        self.assertEqual(self.may("plain", "select distinct tableowner from pg_tables where schemaname = 'unblend'"),
                         "plain")
        job, = harness.report(self.words("eye"), "--db").data["jobs"]
        self.assertEqual(job["job"], "slurm:42")


if __name__ == "__main__":
    unittest.main(verbosity=2)
