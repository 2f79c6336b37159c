"""The two public bugs that the suite was made for, as published.

Expected values are those of pytorch#192530 (rank 0: five DtoD, the others PtoP; fixed by a uniform
self-import), torchcomms#3498 (only a native root on device ordinal 0 is hit) and torchcomms#3506
(all ranks hang in bind after a late importer got an empty object).
"""

from symmcts import Case, copies, unittest, verdicts


class Pytorch192530(Case):
    def repro(self, *more):
        run = self.expect_exit(0, "repro", "pytorch-192530", "--json", "--out", self.scratch / "o",
                               *more)
        return run.json

    def test_before_and_after_are_as_published(self):
        result = self.repro()
        self.assertEqual(result["id"], "pytorch-192530")
        self.assertEqual(result["verb"], "repro")
        before, after = result["before"], result["after"]
        self.assertEqual(copies(before), {0: {"DtoD": 5}, 1: {"PtoP": 5}})
        self.assertEqual(copies(after), {0: {"PtoP": 5}, 1: {"PtoP": 5}})
        found = verdicts(before)
        for requirement in ("SM-PROV-1", "SM-KIND-1", "SM-OVLP-1"):
            self.assertIn(requirement, before["failed"])
            self.assertEqual(found[requirement]["status"], "fail")
            self.assertEqual(found[requirement]["ranks"], [0], found[requirement])
        self.assertEqual(before["failed"], sorted(before["failed"]))
        self.assertEqual(after["failed"], [])
        self.assertEqual({v["status"] for v in after["requirements"]}, {"pass"})

    def test_native_root_on_ordinal_1_shows_ptop(self):
        before = self.repro("--root-ordinal", "1")["before"]
        self.assertEqual(copies(before), {0: {"PtoP": 5}, 1: {"PtoP": 5}})
        # Kind and overlap are right by luck; the provenance is wrong all the same.
        self.assertEqual(verdicts(before)["SM-PROV-1"]["status"], "fail")
        self.assertNotIn("SM-KIND-1", before["failed"])
        self.assertNotIn("SM-OVLP-1", before["failed"])

    def test_one_visible_gpu_shows_dtod_again(self):
        before = self.repro("--one-visible-gpu")["before"]
        self.assertEqual(copies(before), {0: {"DtoD": 5}, 1: {"PtoP": 5}})
        before = self.repro("--one-visible-gpu", "--root-ordinal", "1")["before"]
        self.assertEqual(copies(before), {0: {"DtoD": 5}, 1: {"PtoP": 5}})

    def test_mpirun_gives_the_same(self):
        result = self.repro("--launcher", "mpirun")
        self.assertEqual(copies(result["before"]), {0: {"DtoD": 5}, 1: {"PtoP": 5}})
        self.assertEqual(copies(result["after"]), {0: {"PtoP": 5}, 1: {"PtoP": 5}})


class Torchcomms3506(Case):
    def test_late_importer_is_an_explained_hang(self):
        run = self.expect_exit(0, "repro", "torchcomms-3506", "--json", "--out",
                               self.scratch / "o")
        before, after = run.json["before"], run.json["after"]
        verdict = verdicts(before)["SM-LIFE-1"]
        self.assertEqual(verdict["status"], "fail")
        self.assertIn("SM-LIFE-1", before["failed"])
        self.assertIn("empty", verdict["reason"])
        for rank in ("rank 0", "rank 1"):
            self.assertIn(rank, verdict["reason"])
        self.assertIn("bind", verdict["reason"])
        self.assertEqual(after["failed"], [])
        self.assertEqual(verdicts(after)["SM-LIFE-1"]["status"], "pass")


if __name__ == "__main__":
    unittest.main()
