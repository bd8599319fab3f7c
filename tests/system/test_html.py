#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`unblend report --format html`: one file, whole, well-formed, that says what the JSON says.

The sections that are drawn from counts alone are compared with those in reports/, made of the recording there. After
a change that is meant:
UNBLEND_REPORTS=write tests/system/run test_html
"""
import datetime
import html.parser
import json
import os
import re

import harness
import made
from harness import SystemTest

REPORTS = os.path.join(harness.SOURCE, "tests/system/reports")
VOID = {"meta", "br"}
QUESTIONS = 7


class Checker(html.parser.HTMLParser):
    """Whether every element is closed where it should be; collects what the tests look at."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.tags, self.loads, self.text = [], [], [], [], [], []
        self.unlabelled = 0

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "a":
            self.links.append(attrs["href"])
        if "src" in attrs or tag in ("link", "img", "iframe", "object", "use"):
            self.loads.append((tag, attrs))
        if tag == "svg" and not attrs.get("aria-label") and attrs.get("aria-hidden") != "true":
            self.unlabelled += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> at {self.getpos()} closes nothing")

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text.append(data)


def check(text):
    checker = Checker()
    checker.feed(text)
    checker.close()
    return checker


def section(text, name):
    """The section with that heading, as it stands in the file."""
    found = re.search(r'<section>\n<h2 id="%s">.*?</section>\n' % name, text, re.S)
    if not found:
        raise AssertionError(f"there is no section {name}")
    return found.group(0)


class HtmlTest(SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recording = cls.to_recording("made.rec", os.path.join(REPORTS, "recording.json"))
        cls.html = harness.must([harness.unblend(), "report", "-f", "html", cls.recording])
        cls.data = json.loads(harness.must([harness.unblend(), "report", "-f", "json", cls.recording]))

    @classmethod
    def to_recording(cls, name, path):
        """Batches as JSON lines, as a recording."""
        recording = os.path.join(cls.directory, name)
        with open(path, encoding="utf-8") as lines:
            harness.must([os.path.join(harness.bindir(), "tests/system/json_recording"), recording], stdin=lines)
        return recording

    def test_it_is_one_whole_file(self):
        checker = check(self.html)
        self.assertEqual([], checker.open)
        self.assertEqual([], checker.loads)
        self.assertEqual(0, checker.unlabelled, "a picture has no words")
        self.assertEqual(len(checker.ids), len(set(checker.ids)))
        for link in checker.links:
            self.assertIn(link.lstrip("#"), checker.ids)
        for scheme in ("http:", "https:", "url(", "@import"):
            self.assertNotIn(scheme, self.html)

    def test_the_first_page_answers_every_question(self):
        first = self.html[:self.html.index("</header>")]
        self.assertEqual(QUESTIONS, len(re.findall('<section class="answer (?:plain|good|bad|unsure)">', first)))
        verdicts = re.findall('<p class="verdict">(.*?)</p>', first)
        self.assertEqual(QUESTIONS, len(verdicts))
        for verdict in verdicts:
            self.assertRegex(verdict, r"[0-9]|Cannot tell, because |None|Nothing|\.")

    def test_its_figures_are_those_of_the_json(self):
        words = " ".join(check(self.html).text)
        for name, op in self.data["cluster"]["ops"].items():
            self.assertIn(name, words)
            self.assertIn(f"{op['ops']:,}", words)
        for job in self.data["jobs"]:
            self.assertIn(job["job"], words)
            for profile in job["profiles"]:
                if profile["kind"] == "pattern":
                    self.assertIn(profile["profile"], words)
        for hook in self.data["coverage"]["hooks"]:
            if hook["state"] == "unavailable":
                self.assertIn(hook["why"], words)

    def test_what_it_draws_is_as_it_was(self):
        for name in ("how", "when"):
            path = os.path.join(REPORTS, name + ".html")
            text = section(self.html, name)
            if os.environ.get("UNBLEND_REPORTS") == "write":
                os.makedirs(REPORTS, exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read().splitlines(), text.splitlines())

    def test_each_of_a_legend_has_a_color_of_its_own(self):
        batch = made.batch(0, 0)
        operations = ("open close stat readdir create unlink rename mkdir truncate setattr").split()
        one = {key: value for key, value in next(record for record in batch["records"]
                                                 if record["op"] == "open").items() if key != "size"}
        batch["records"] = [{**one, "op": name} for name in operations]
        batch["duration_ns"] = 490 * 10**6
        path = self.path("operations.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(batch, file)
        text = harness.must([harness.unblend(), "report", "-f", "html", self.to_recording("operations.rec", path)])
        legend = re.search(r"<b>Metadata operations</b>.*?<ul class=\"legend\">(.*?)</ul>", text, re.S)[1]
        colors = re.findall(r'class="(f\d+)"', legend)
        self.assertEqual(len(operations), len(colors), legend)
        self.assertEqual(len(colors), len(set(colors)))
        for block in re.findall(r"\{[^{}]*--c0:[^{}]*\}", text):
            values = re.findall(r"--c\d+: (#\w+)", block)
            self.assertEqual(12, len(set(values)), block)
        self.assertRegex(text, r"12:00:00\.000</time> to <time [^>]*>2026-03-01 12:00:00\.490</time>")

    def test_names_are_text_not_markup(self):
        with open(os.path.join(REPORTS, "recording.json"), encoding="utf-8") as lines:
            batch = json.loads(lines.readline())
        batch["jobs"][0]["job"] = "<script>alert(1)</script>&\"'\u0001"
        batch["volumes"][1]["volume"] = "</table><b>x"
        batch["node"] = "n\"><img src=x>"
        with open(self.path("evil.json"), "w", encoding="utf-8") as file:
            file.write(json.dumps(batch) + "\n")
        text = harness.must([harness.unblend(), "report", "-f", "html",
                             self.to_recording("evil.rec", self.path("evil.json"))])
        checker = check(text)
        self.assertEqual([], checker.loads)
        self.assertEqual(1, checker.tags.count("script"))
        self.assertNotIn("\u0001", text)
        self.assertIn("<script>alert(1)</script>&\"'\ufffd", "".join(checker.text))
        text = harness.must([harness.unblend(), "report", self.path("evil.rec")])
        self.assertIn("<script>alert(1)</script>&\"'?", text)
        self.assertNotIn("\u0001", text)

    def test_what_an_agent_says_steers_no_terminal(self):
        """Why a hook is missing, a way around the kernel, a job: in reports, in batches of top and in CSV."""
        with open(os.path.join(REPORTS, "recording.json"), encoding="utf-8") as lines:
            batch = json.loads(lines.readline())
        evil = "x\u001b[31m\ny\u202ez"
        batch["jobs"][0]["job"] = batch["jobs"][0]["user"] = evil
        batch["coverage"]["hooks"] = [{"hook": evil, "state": "unavailable", "why": evil}]
        batch["coverage"]["bypass"] = [{"what": evil, "device": evil, "bytes": None, "why": evil}]
        with open(self.path("steer.json"), "w", encoding="utf-8") as file:
            file.write(json.dumps(batch) + "\n")
        recording = self.to_recording("steer.rec", self.path("steer.json"))
        for command in (["report"], ["top", "-b", "--replay"], ["top", "--csv", "--replay"]):
            shown = harness.must([harness.unblend(), *command, recording],
                                 env=dict(harness.environment(), LC_ALL="C.UTF-8"))
            self.assertIn("x?[31m?y", shown)
            self.assertNotIn("\u001b", shown)
            self.assertNotIn("\u202e", shown)
            self.assertNotIn("[31m\n", shown)

    def test_what_moved_stands_behind_the_first_page(self):
        text = harness.must([harness.unblend(), "report", "-f", "html", "--compare", self.recording, self.recording])
        checker = check(text)
        self.assertEqual([], checker.open)
        self.assertIn("moved", checker.ids)
        self.assertIn("0 figures moved beyond noise", " ".join(checker.text))
        data = json.loads(harness.must([harness.unblend(), "report", "-f", "json", "--compare", self.recording,
                                        self.recording]))
        self.assertEqual([], data["comparison"]["moved"])
        self.assertGreater(data["comparison"]["within_noise"], 10)
        text = harness.must([harness.unblend(), "report", "--compare", self.recording, self.recording])
        self.assertRegex(text, r"What moved beyond noise .*\n  nothing\n")
        done = harness.run([harness.unblend(), "report", "--compare", self.path("none.rec"), self.recording])
        self.assertEqual((1, ""), (done.returncode, done.stdout))
        self.assert_one_line(done.stderr, "none.rec")

    def test_a_platform_of_some_volumes(self):
        """Scenarios and the first page are of the volumes that are on it; intervals of 10 s do for what-ifs by profile."""
        def volume(name):
            return {"volume": name, "source": name, "fstype": "nfs4", "scope": "shared", "mounts": []}

        def moved(name, op, amount, size):
            ops = made.pairs((size, amount))
            return {"job": 0, "volume": 0, "op": op, "bytes": amount << size // 8 + 2, "errors": 0,
                    "latency_sum_ns": amount * 1000000, "latency_ns": made.pairs((130, amount)), "size": ops, "order": [0, amount, 0]}

        batches = []
        for k in range(30):
            for node, name, op, amount, size in (("n1", "nfs:a", "read", 3000, 112), ("n2", "nfs:b", "write", 1000, 160)):
                batches.append({
                    "schema": "unblend.batch/1", "cluster": "c", "node": node, "role": "client", "kernel": "6.1",
                    "boot_id": node, "stream": node.encode().hex() * 8, "seq": k + 1,
                    "start_ns": (made.START_S + 10 * k) * 10**9, "duration_ns": 10**10, "interval_ms": 10000,
                    "jobs": [{"job": node, "kind": "slurm", "user": "u", "command": "p", "labels": {}, "start_ns": None,
                              "end_ns": None, "exit": None}],
                    "volumes": [volume(name)], "records": [moved(name, op, amount, size)] + (
                        [{**moved(name, "fsync", 1, 0), "size": "", "bytes": 0}] if op == "write" else []),
                    "coverage": {"lost_ops": 0, "killed_ops": 0, "in_flight_ops": 0, "unattributed_ops": 0,
                                 "overflow_ops": 0, "hooks": [], "bypass": []}})
        recording = self.path("two.rec")
        made.write(recording, batches)
        path = self.path("some.json")
        seen = {}
        for glob in ("nfs:a", "nfs:b", "nfs:*", "zz:*"):
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"schema": "unblend.platform/1", "name": "P", "volumes": [glob], "iops": 1000, "bytes_s": 3e9}, file)
            command = [harness.unblend(), "report", "--platform", path, "--what-if", "1x,checkpoint=0.5", recording]
            capacity = json.loads(harness.must([*command, "-f", "json"]))["cluster"]["capacity"]
            seen[glob] = capacity["scenarios"]
            self.assertEqual(glob == "zz:*", capacity["platform"] is None)
            self.assertEqual("platform-file" if glob == "nfs:*" else "highest-seen", capacity["cluster"][0]["limit_source"])
            text = harness.must([*command, "-f", "html"])
            self.assertIn("Cannot tell, because the volumes of P" if glob == "zz:*" else "% of what P can do", text)
            # nobody knows its seconds
            self.assertEqual({60000}, {row["peak_window_ms"] for row in capacity["required"]})
            self.assertRegex(text, r"400 MiB/s \(mean of [^)]+\)")
        self.assertEqual([], seen["zz:*"])
        self.assertAlmostEqual(0.3, seen["nfs:a"][0]["utilization"]["max"])
        self.assertAlmostEqual(0.4, seen["nfs:*"][0]["utilization"]["max"])
        whole, half = ({d["metric"]: d["max"] for d in s["demand"]}["write_bytes_s"] for s in seen["nfs:b"])
        self.assertEqual(100 << 22, whole)
        self.assertAlmostEqual(whole / 2, half)

    def test_a_platform_gives_the_limits(self):
        path = self.path("platform.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schema": "unblend.platform/1", "name": "small box", "nodes": 2, "nodes_may_fail": 1,
                       "bytes_s": 400 << 20, "metadata_ops_s": 1000000}, file)
        data = json.loads(harness.must([harness.unblend(), "report", "-f", "json", "--platform", path, self.recording]))
        shared = data["cluster"]["capacity"]["cluster"][0]
        self.assertEqual("platform-file", shared["limit_source"])
        self.assertEqual(400 << 20, shared["limit"]["read_bytes_s"])
        second = next(use for use in shared["utilization"] if use["window_ms"] == 1000)
        most = next(row for row in shared["demand"] if (row["metric"], row["window_ms"]) == ("read_bytes_s", 1000))
        self.assertAlmostEqual(most["max"] / (400 << 20), second["max"])
        self.assertEqual("read_bytes_s", second["binding"])
        need = next(row for row in data["cluster"]["capacity"]["required"] if row["metric"] == "read_bytes_s")
        self.assertAlmostEqual(2 * need["peak"], need["with_a_node_lost"])
        once, short, twice = data["cluster"]["capacity"]["scenarios"][:3]
        self.assertEqual((("1x", 2), ("1x", 1), ("2x", 2)),
                         tuple((s["scenario"], s["nodes"]) for s in (once, short, twice)))
        self.assertAlmostEqual(2 * once["utilization"]["max"], twice["utilization"]["max"])
        self.assertAlmostEqual(2 * once["utilization"]["max"], short["utilization"]["max"])
        self.assertLess(twice["served"], 1)
        self.assertIsNone(twice["latency_mean_ns"], "the file does not say how long a request takes")
        text = harness.must([harness.unblend(), "report", "-f", "html", "--platform", path, self.recording])
        self.assertIn("% of what small box can do", text)
        text = harness.must([harness.unblend(), "report", "--platform", path, self.recording])
        rows = [row.split() for row in text[text.index("What if"):].splitlines()[1:7]]
        self.assertEqual(["1x", "small", "box", "2", "of", "2"], rows[0][:6])
        self.assertEqual([f"{100 * s['utilization']['max']:.0f}" for s in (once, short, twice)],
                         [row[8] for row in rows[:3]])
        for scenario, word in (("2x", "no platform"), (f"los=2@{path}", "there is no los")):
            done = harness.run([harness.unblend(), "report", "--what-if", scenario, self.recording])
            self.assertEqual((2, ""), (done.returncode, done.stdout))
            self.assert_one_line(done.stderr, scenario, word)
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"schema": "unblend.platform/1", "speed": 1}')
        done = harness.run([harness.unblend(), "report", "--platform", path, self.recording])
        self.assertEqual((1, ""), (done.returncode, done.stdout))
        self.assert_one_line(done.stderr, path, "speed")

    def test_a_platform_s_volumes_are_found_under_pseudonyms(self):
        platform = self.path("some.json")
        key = self.path("key")
        names = sorted({volume["volume"] for job in self.data["jobs"] for volume in job["volumes"]
                        if volume["scope"] == "shared"})
        self.assertGreater(len(names), 0)
        for volumes, source in ((names, "platform-file"), ([name + "?" for name in names], "highest-seen")):
            with open(platform, "w", encoding="utf-8") as file:
                json.dump({"schema": "unblend.platform/1", "name": "box", "volumes": volumes, "bytes_s": 400 << 20},
                          file)
            text = harness.must([harness.unblend(), "report", "-f", "json", "--platform", platform, "--pseudonyms",
                                 "--site-key", key, self.recording])
            self.assertNotIn(names[0], text)
            sources = {entry["limit_source"] for entry in json.loads(text)["cluster"]["capacity"]["volumes"]
                       if entry["limit_source"] != "highest-seen"}
            self.assertEqual({source} - {"highest-seen"}, sources)

    def test_what_a_platform_costs_is_the_same_in_every_form(self):
        path = self.path("priced.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schema": "unblend.platform/1", "name": "small box", "price": 438300, "currency": "EUR",
                       "years": 5,
                       "capacity_bytes": 2e15, "tiers": [{"name": "flash", "capacity_bytes": 1e14, "price": 50000},
                                                         {"name": "disks", "capacity_bytes": 1.9e15}]}, file)
        command = [harness.unblend(), "report", "--platform", path, self.recording, "-f"]
        cost = json.loads(harness.must([*command, "json"]))["cluster"]["capacity"]["cost"]
        self.assertEqual(("small box", "EUR", "platform"), (cost["platform"], cost["currency"], cost["price_source"]))
        self.assertAlmostEqual(219.15, cost["price_per_tb"])
        self.assertAlmostEqual(10, cost["price_per_hour"])
        start, end = (datetime.datetime.fromisoformat(self.data["span"][key].replace("Z", "+00:00"))
                      for key in ("start", "end"))
        self.assertAlmostEqual(10 * (end - start).total_seconds() / 3600 / len(self.data["jobs"]),
                               cost["price_per_job"])
        self.assertAlmostEqual(500, cost["tiers"][0]["price_per_tb"])
        self.assertIsNone(cost["tiers"][1]["price_per_tb"])
        self.assertEqual({"converged_cores", "gpu_hours_lost"}, set(cost["why"]))
        words, text = (" ".join(form.split()) for form in
                       (" ".join(check(harness.must([*command, "html"])).text), harness.must([*command, "text"])))
        for said in ("438,300", "219.15", "10.00", "500.00", "EUR", cost["tiers"][1]["why"], *cost["why"].values()):
            self.assertIn(said, words)
            self.assertIn(said, text)
        self.assertIsNone(self.data["cluster"]["capacity"]["cost"]["price_per_tb"])
        self.assertIn("--platform", self.data["cluster"]["capacity"]["cost"]["why"]["price_per_tb"])

    def test_nothing_is_said_to_be_nothing(self):
        text = harness.must([harness.unblend(), "report", "-f", "html", "--job", "nobody*", self.recording])
        self.assertIn("no storage I/O was seen", text)
        self.assertEqual([], check(text).open)
        text = harness.must([harness.unblend(), "report", "-f", "html", "--until", "2001-01-01T00:00:00Z",
                             self.recording])
        self.assertIn("Nothing was recorded", text)
        self.assertEqual([], check(text).open)


if __name__ == "__main__":
    harness.main()
