# SPDX-License-Identifier: GPL-2.0-or-later
"""Nothing lost, nothing twice: a hundred faults, and that the oracle finds what is wrong. See exactly_once.py."""
import random
import unittest

import exactly_once

SEED = random.SystemRandom().randrange(1 << 31)  # in the line that the test prints; tests/system/oracle takes it
MILD = ["lose_answers", "cut_requests", "send_twice", "kill_agent", "kill_backend"]


class TestOracle(unittest.TestCase):
    def run_oracle(self, faults, **options):
        done, line, wrong = exactly_once.run(SEED, faults, **options)
        print(line, flush=True)
        return done.total, wrong

    def test_a_hundred_faults(self):
        total, wrong = self.run_oracle(100)
        self.assertEqual([], wrong, f"seed {SEED}")
        self.assertGreater(total["batches"], 500)
        self.assertEqual((0, 0, 0, 0), (total["lost"], total["doubled"], total["strange"], total["difference"]))

    def test_deleting_before_the_commit_is_found(self):
        total, wrong = self.run_oracle(20, feeder="feeder_hasty", kinds=MILD)
        self.assertGreater(total["lost"], 0, wrong)

    def test_a_collector_without_a_ledger_is_found(self):
        total, wrong = self.run_oracle(20, collector="collector_forgetful", kinds=MILD)
        self.assertGreater(total["doubled"], 0, wrong)


if __name__ == "__main__":
    unittest.main(verbosity=2)
