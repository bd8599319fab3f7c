# SPDX-License-Identifier: GPL-2.0-or-later
"""A call that the first flavour does not see is watched through the next one, alone."""
import errno

import harness
import supervise

CALLS = 7
# The self-test fires a call three times, and once more when that was not exact.
UNSEEN = 6

COMMAND = "import os\nf = os.open('file', os.O_RDWR | os.O_CREAT)\nfor _ in range(%d): os.fdatasync(f)" % CALLS


class FallbackTest(harness.SystemTest):
    def record_unseen(self, unseen):
        """The self-test's first calls of fdatasync() are answered as the kernel would, but without its tracepoints."""
        left = unseen

        def decide(comm):
            nonlocal left
            if comm != "unblend" or not left:
                return 0
            left -= 1
            return errno.EBADF

        with supervise.Supervisor(supervise.FDATASYNC, decide) as supervisor:
            done = harness.record(self.path("unseen.rec"), [harness.PYTHON, "-I", "-S", "-c", COMMAND],
                                  preexec_fn=supervisor.prepare, cwd=self.directory)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(left, 0)
        report = harness.report(self.path("unseen.rec"))
        return report, {hook["hook"]: hook for hook in report.coverage["hooks"] if "/fdatasync" in hook["hook"]}

    def syncs(self, report):
        return harness.count(report.job()["ops"], "fsync")[0]

    def test_one_call_moves(self):
        report, hooks = self.record_unseen(UNSEEN)
        self.assertEqual(len(hooks), 1, hooks)
        name, hook = hooks.popitem()
        if hook["state"] == "attached":
            self.assertFalse(name.startswith("tp_btf/"), name)
            self.assertIn("the self-test found it not exact through", hook["why"])
        else:  # there is no other flavour here
            self.assertIn("3 times and 0 were counted", hook["why"])
        self.assertEqual(self.syncs(report), CALLS)  # once each, though two flavours see it

    def test_one_that_was_missed_by_chance_stays(self):
        report, hooks = self.record_unseen(1)
        self.assertEqual(hooks, {})
        self.assertEqual(self.syncs(report), CALLS)


if __name__ == "__main__":
    harness.main()
