"""Many ranks: a job of 256, a rack of 72, and MPI at 2, 4 and 8.

torchcomms#3498 as published: 256 ranks in four NVLink domains of 64, four GPUs a host. In domain d
group g is {64d+g, 64d+g+8, ..., 64d+g+56}, its root the lowest. Before the fix exactly the roots on
device ordinal 0 copied as DtoD; after it all 256 ranks copied as PtoP.
"""

import sys

from symmcts import Case, copies, time, unittest, verdicts

ODD = [0, 4, 64, 68, 128, 132, 192, 196]
ROOTS = [64 * domain + group for domain in range(4) for group in range(8)]


class Torchcomms3498(Case):
    def test_before_and_after_are_as_published(self):
        run = self.expect_exit(0, "repro", "torchcomms-3498", "--json", "--out", self.scratch / "o")
        before, after = run.json["before"], run.json["after"]
        self.assertEqual(copies(before), {rank: {"DtoD": 1} if rank in ODD else {"PtoP": 1}
                                          for rank in range(256)})
        self.assertEqual(copies(after), {rank: {"PtoP": 1} for rank in range(256)})
        found = verdicts(before)
        for requirement in ("SM-KIND-1", "SM-KIND-2"):
            self.assertEqual(found[requirement]["ranks"], ODD)
        self.assertEqual(found["SM-PROV-1"]["ranks"], ROOTS)
        self.assertEqual(after["failed"], [])
        self.assertEqual({rank["device"] for rank in before["ranks"] if rank["rank"] in ODD}, {0})


class Rack(Case):
    def test_a_rack_meets_and_gathers(self):
        begun = time.monotonic()
        run = self.expect_exit(0, "run", "--platform", "gb200-nvl72", "--ranks", 72, "--impl",
                               "reference", "--filter", "Overlap.UploadsBesideAllGather", "--json",
                               "--out", self.scratch / "o")
        # At most 30 s are promised on an idle machine; this one may have other things to do.
        print(f"72 ranks: {time.monotonic() - begun:.1f} s", file=sys.stderr)
        found = verdicts(run.json)
        for requirement in ("SM-PROV-1", "SM-PROV-2", "SM-KIND-1", "SM-OVLP-1", "SM-DATA-1"):
            self.assertEqual(found[requirement]["status"], "pass", found[requirement])
        self.assertEqual(len(run.json["ranks"]), 72)
        self.assertEqual({rank["host"] for rank in run.json["ranks"]}, set(range(18)))


class Mpi(Case):
    def test_the_exchange_over_mpi(self):
        for ranks in (2, 4, 8):
            with self.subTest(ranks=ranks):
                run = self.expect_exit(0, "run", "--platform", "hgx-h200", "--ranks", ranks,
                                       "--launcher", "mpirun", "--filter", "Data.*", "--json",
                                       "--out", self.scratch / f"o{ranks}")
                self.assertEqual(verdicts(run.json)["SM-DATA-1"]["status"], "pass")
                self.assertEqual([rank["rank"] for rank in run.json["ranks"]], list(range(ranks)))


if __name__ == "__main__":
    unittest.main()
