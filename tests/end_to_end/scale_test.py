"""torchcomms#3498 as published: 256 ranks in four NVLink domains of 64, four GPUs a host.

In domain d group g is {64d+g, 64d+g+8, ..., 64d+g+56}, its root the lowest. Before the fix exactly the
roots on device ordinal 0 copied as DtoD; after it all 256 ranks copied as PtoP.
"""

from symmcts import Case, copies, unittest, verdicts

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


if __name__ == "__main__":
    unittest.main()
