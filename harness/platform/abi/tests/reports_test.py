#!/usr/bin/env python3
"""What the platform does under a scenario's faults, and what it says of misuse and of each call.

  reports_test.py --lib ABSOLUTE/libcuda.so.1

Each test runs this file again as a client, with the environment that it is about: a process joins
one machine in its life.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from ctypes import byref, c_int, c_uint, c_ulonglong, c_void_p

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tests"))
from ctypes_driver import FABRIC, FD, MIB, MulticastProp, Platform  # noqa: E402

OPTIONS = None
SIZE = 2 * MIB
MULTICAST_SUPPORTED = 132
INVALID_VALUE, ILLEGAL_STATE, NOT_PERMITTED, NOT_SUPPORTED, NOT_READY = 1, 401, 800, 801, 802


def multicast_attribute(cuda):
    value = c_int(-1)
    cuda("cuDeviceGetAttribute", byref(value), MULTICAST_SUPPORTED, 0)
    return value.value


def rendezvous(cuda):
    """One process for both GPUs: the codes of each step, as far as they go on being asked."""
    cuda.use(0)
    team = cuda.create_multicast(2, SIZE, FD)
    codes = {"attribute": multicast_attribute(cuda),
             "add": [cuda.code("cuMulticastAddDevice", team, device) for device in (0, 1)]}
    memory = cuda.create(0, SIZE, FD)
    at = c_ulonglong()
    cuda("cuMemAddressReserve", byref(at), SIZE, 0, 0, 0)
    if codes["add"] == [0, 0]:
        codes["bind"] = [cuda.code("cuMulticastBindMem", team, 0, memory, 0, SIZE, 0)
                         for _ in range(2)]
        codes["map"] = cuda.code("cuMemMap", at.value, SIZE, 0, team, 0)
    print(json.dumps(codes))


def fabric(cuda):
    handle, prop = c_ulonglong(), MulticastProp(devices=2, size=SIZE, handle_types=FABRIC, flags=0)
    print(cuda.code("cuMulticastCreate", byref(handle), byref(prop)))


def misuse(cuda):
    """Calls that a real driver crashes on. Everything that is made is given up again."""
    cuda.use(0)
    codes = []
    memory = cuda.create(0, SIZE, FD)
    cuda("cuMemRelease", memory)
    codes.append(cuda.code("cuMemRelease", memory))
    codes.append(cuda.code("cuMemMap", 0x7e8000000000, SIZE, 0, memory, 0))
    codes.append(cuda.code("cuMemRelease", 0xdeadbeef))
    for make, end, use in (("cuStreamCreate", "cuStreamDestroy_v2", "cuStreamSynchronize"),
                           ("cuEventCreate", "cuEventDestroy_v2", "cuEventSynchronize")):
        handle = c_void_p()
        cuda(make, byref(handle), c_uint(0))
        cuda(end, handle)
        codes += [cuda.code(end, handle), cuda.code(use, handle), cuda.code(use, c_void_p(0x1234))]
    print(json.dumps(codes))


def leaks(cuda):
    cuda.use(0)
    kept = [cuda.create(0, SIZE, FD) for _ in range(2)]
    cuda.map(kept[0], SIZE, [0])
    cuda("cuMemAddressReserve", byref(c_ulonglong()), SIZE, 0, 0, 0)
    for make in ("cuStreamCreate", "cuEventCreate"):
        cuda(make, byref(c_void_p()), c_uint(0))
    per_thread = c_void_p(2)  # CU_STREAM_PER_THREAD: made by the platform, so nobody's leak
    cuda("cuStreamSynchronize", per_thread)


def tidy(cuda):
    cuda.use(0)
    memory = cuda.create(0, SIZE, FD)
    cuda.unmap(cuda.map(memory, SIZE, [0]), SIZE)
    cuda("cuMemRelease", memory)
    stream = c_void_p()
    cuda("cuStreamCreate", byref(stream), c_uint(0))
    cuda("cuStreamDestroy_v2", stream)


def many_calls(cuda):
    def calls():
        for _ in range(200):
            cuda("cuDeviceGetCount", byref(c_int()))
    threads = [threading.Thread(target=calls) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cuda.use(0)
    cuda("cuMemRelease", cuda.create(0, SIZE, FD))
    cuda.code("cuMemRelease", 5)
    cuda.code("cuArray3DCreate_v2", None, None)


def reserve(cuda):
    """A few calls of one function, with a phase of its own before each."""
    cuda.use(0)
    tell = cuda.library.symmcts_platform_phase
    codes, at = [], c_ulonglong()
    for _ in range(4):
        tell(b"bind")
        codes.append(cuda.code("cuMemAddressReserve", byref(at), SIZE, 0, 0, 0))
        if codes[-1] == 0:
            cuda("cuMemAddressFree", at.value, SIZE)
        print(json.dumps(codes), flush=True)


CLIENTS = {client.__name__: client
           for client in (rendezvous, fabric, misuse, leaks, tidy, many_calls, reserve)}


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="symmcts-reports-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def client(self, name, faults=None, scenario=None, code=0, **variables):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("SYMMCTS_")}
        environment.update(variables)
        if faults is not None:
            scenario = "[faults]\n" + faults
        if scenario is not None:
            file = self.folder / "faults.toml"
            file.write_text(scenario)
            environment["SYMMCTS_SCENARIO"] = str(file)
        ended = subprocess.run([sys.executable, __file__, "--lib", OPTIONS.lib, "--client", name],
                               env=environment, text=True, capture_output=True, timeout=100)
        self.assertEqual(ended.returncode, code, ended.stderr)
        return ended


class Faults(Case):
    def codes(self, faults):
        return json.loads(self.client("rendezvous", faults).stdout)

    def test_a_quiet_machine(self):
        self.assertEqual(self.codes(""), {"attribute": 1, "add": [0, 0],
                                          "bind": [0, INVALID_VALUE], "map": 0})

    # A9.8, A9.8b
    def test_an_absent_manager(self):
        self.assertEqual(self.codes('fabric_manager = "absent"'),
                         {"attribute": 1, "add": [0, 0], "bind": [ILLEGAL_STATE] * 2,
                          "map": ILLEGAL_STATE})

    # A0.3
    def test_the_attribute_says_yes_without_a_fabric_manager(self):
        self.assertEqual(self.codes('fabric_manager = "absent"')["attribute"], 1)

    # A9.6: 7 s; the first bind gives up, the second one finds the team.
    def test_a_stalled_manager(self):
        self.assertEqual(self.codes("fabric_manager_stall_ns = 7_000_000_000")["bind"],
                         [NOT_READY, 0])

    # A0.4, A0.5
    def test_confidential_computing(self):
        self.assertEqual(self.codes("confidential_computing = true"),
                         {"attribute": 0, "add": [NOT_SUPPORTED] * 2})

    # A0.6, A7.6
    def test_a_withdrawn_channel(self):
        self.assertEqual(self.client("fabric", "").stdout, "0\n")
        self.assertEqual(self.client("fabric", "imex_withdrawn_hosts = [0]").stdout,
                         f"{NOT_PERMITTED}\n")


class Reported(Case):
    def reported(self, name, scenario=None, **options):
        """A client on a broker with a report file: its stderr lines and the report."""
        socket, report = self.folder / "machine", self.folder / "report"
        program = pathlib.Path(OPTIONS.lib).parent.parent / "bin" / "symmcts-broker"
        broker = subprocess.Popen([program, "--socket", socket, "--profile", "gb200-nvl2",
                                   "--report", report, "--expect-clients", "1", "--no-race-check",
                                   *self.scenario(scenario)])
        self.addCleanup(broker.wait)
        self.addCleanup(broker.kill)
        deadline = time.monotonic() + 60
        while not socket.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        ended = self.client(name, SYMMCTS_MACHINE=str(socket), SYMMCTS_RANK="0", **options)
        self.assertEqual(broker.wait(60), 0)
        lines = report.read_text().splitlines() if report.exists() else []
        return ended, [json.loads(line) for line in lines]

    def scenario(self, text):
        if text is None:
            return []
        file = self.folder / "scenario.toml"
        file.write_text(text)
        return ["--scenario", file]


class RankFaults(Reported):
    """What befalls this rank; the broker alone is told of the scenario."""

    FAIL = '[[fail]]\nrank = 0\ncall = "cuMemAddressReserve"\nnumber = 2\ntimes = 2\ncode = 802\n'

    def test_a_call_fails_and_does_nothing(self):
        ended, report = self.reported("reserve", self.FAIL)
        self.assertEqual(json.loads(ended.stdout.splitlines()[-1]), [0, NOT_READY, NOT_READY, 0])
        plan, *faults = report
        self.assertEqual([(f["entry"], f["t"]) for f in plan["faults"]], [("fail[0]", None)])
        self.assertEqual([(f["type"], f["rank"], f["kind"], f["at"], f["number"], f["code"])
                          for f in faults],
                         [("fault", 0, "fail", "cuMemAddressReserve", number, NOT_READY)
                          for number in (2, 3)])
        self.assertGreater(faults[0]["t"], 0)
        self.assertEqual([line.split("scenario: ")[1] for line in ended.stderr.splitlines()],
                         [f["text"] for f in faults])

    def test_another_rank_has_faults_of_its_own(self):
        ended, report = self.reported("reserve", self.FAIL.replace("rank = 0", "rank = 1"))
        self.assertEqual(json.loads(ended.stdout.splitlines()[-1]), [0] * 4)
        self.assertEqual([line["type"] for line in report], ["plan"])

    def test_a_call_stalls(self):
        text = '[[stall]]\nrank = 0\ncall = "cuMemAddressReserve"\nnumber = 3\nns = 7_000_000_000\n'
        ended, report = self.reported("reserve", text, SYMMCTS_TRACE="1")
        took = [int(call[3]) - int(call[2]) for call in map(Trace.LINE.fullmatch,
                                                           ended.stderr.splitlines())
                if call and call[4] == "cuMemAddressReserve"]
        self.assertEqual([time >= 7_000_000_000 for time in took], [False, False, True, False])
        self.assertEqual([line.get("ns") for line in report], [None, 7_000_000_000])

    def test_a_rank_is_killed(self):
        for when, lines in (('before = "cuMemAddressReserve"', 2),
                            ('after = "cuMemAddressReserve"', 2), ('phase = "bind"', 2)):
            ended, report = self.reported("reserve", f"[[kill]]\nrank = 0\n{when}\nnumber = 3\n",
                                          code=-signal.SIGKILL)
            self.assertEqual(len(ended.stdout.splitlines()), lines, when)
            self.assertEqual([(line["type"], line.get("kind")) for line in report],
                             [("plan", None), ("fault", "kill")], when)
            (self.folder / "report").unlink()

    def test_a_rank_is_stopped_and_can_be_continued(self):
        file = self.scenario('[[stop]]\nrank = 0\nbefore = "cuMemAddressReserve"\nnumber = 3\n')[1]
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("SYMMCTS_")}
        environment["SYMMCTS_SCENARIO"] = str(file)
        client = subprocess.Popen(
            [sys.executable, __file__, "--lib", OPTIONS.lib, "--client", "reserve"],
            env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(client.wait)
        self.addCleanup(client.kill)
        _, status = os.waitpid(client.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        client.send_signal(signal.SIGCONT)
        out, _ = client.communicate(timeout=100)
        self.assertEqual(client.returncode, 0)
        self.assertEqual(json.loads(out.splitlines()[-1]), [0] * 4)

    def test_a_scenario_that_is_wrong_is_told_with_its_place(self):
        program = pathlib.Path(OPTIONS.lib).parent.parent / "bin" / "symmcts-broker"
        arguments = self.scenario('[[kill]]\nrank = 1\nphase = "bnid"\n')
        for more in (["--socket", self.folder / "machine"], ["--socket", self.folder / "machine", "--check"]):
            ended = subprocess.run([program, "--profile", "gb200-nvl2", *arguments, *more],
                                   text=True, capture_output=True, timeout=100)
            self.assertEqual(ended.returncode, 2)
            self.assertTrue(ended.stderr.startswith(
                f"symmcts-broker: {arguments[1]}:3:9: 'phase' is 'bnid', which is no phase; "),
                ended.stderr)
        arguments = self.scenario(self.FAIL)
        ended = subprocess.run([program, "--profile", "gb200-nvl2", *arguments, "--check"],
                               text=True, capture_output=True, timeout=100)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "", ""))


class Misuse(Reported):
    # A10.7
    def test_bad_handles_are_named(self):
        ended, report = self.reported("misuse")
        self.assertNotIn(0, json.loads(ended.stdout))
        expected = [("double-release", "physical handle", "cuMemRelease"),
                    ("use-after-release", "physical handle", "cuMemMap"),
                    ("garbage-handle", "physical handle", "cuMemRelease"),
                    ("double-release", "stream", "cuStreamDestroy"),
                    ("use-after-release", "stream", "cuStreamSynchronize"),
                    ("garbage-handle", "stream", "cuStreamSynchronize"),
                    ("double-release", "event", "cuEventDestroy"),
                    ("use-after-release", "event", "cuEventSynchronize"),
                    ("garbage-handle", "event", "cuEventSynchronize")]
        self.assertEqual([(line["kind"], line["what"], line["call"]) for line in report], expected)
        self.assertEqual({line["type"] for line in report}, {"misuse"})
        said = ended.stderr.splitlines()
        self.assertEqual(len(said), len(expected), ended.stderr)
        for line, text in zip(said, (line["text"] for line in report)):
            self.assertIn("rank 0: " + text, line)
        # What the evidence holds is the same in every run: no value of a handle.
        self.assertNotIn("0x", json.dumps(report))

    def test_what_is_left_at_exit_is_summed_up(self):
        ended, report = self.reported("leaks")
        self.assertEqual([(line["kind"], line["what"], line["count"], line["call"])
                          for line in report],
                         [("leak", "physical handle", 2, "cuMemCreate"),
                          ("leak", "mapping", 1, "cuMemMap"),
                          ("leak", "reservation", 2, "cuMemAddressReserve"),
                          ("leak", "stream", 1, "cuStreamCreate"),
                          ("leak", "event", 1, "cuEventCreate")])
        times = [line["t"] for line in report]
        self.assertGreater(times[0], 0)
        self.assertLess(times[0], times[1], "each has the time of the call that made it")
        self.assertEqual(ended.stderr.splitlines(),
                         ["symm-cts platform: rank 0: " + line["text"] for line in report])

    def test_a_tidy_process_says_nothing(self):
        ended, report = self.reported("tidy")
        self.assertEqual((ended.stderr, report), ("", []))


class Trace(Case):
    LINE = re.compile(r"symm-cts trace: rank (-|\d+) t=(\d+)\.\.(\d+) (cu\w+)\((.*)\) = (\d+)")

    def test_every_call_is_a_whole_line(self):
        said = self.client("many_calls", SYMMCTS_TRACE="1").stderr.splitlines()
        others = [line for line in said if not line.startswith("symm-cts trace: ")]
        self.assertEqual(len(others), 2, others)  # the garbage handle, and what is not modelled
        calls = [self.LINE.fullmatch(line) for line in said if line not in others]
        self.assertNotIn(None, calls)
        names = [call[4] for call in calls]
        self.assertEqual(names[0], "cuInit")
        self.assertEqual(names.count("cuDeviceGetCount"), 800)
        self.assertTrue(all(call[1] == "0" for call in calls))
        by_name = {call[4]: call for call in calls}
        create = by_name["cuMemCreate"]
        self.assertRegex(create[5], r"^handle=0x[0-9a-f]+, size=2097152, prop=0x[0-9a-f]+, flags=0$")
        self.assertEqual(create[6], "0")
        self.assertGreater(int(create[3]), int(create[2]), "a create takes time")
        self.assertEqual((by_name["cuMemRelease"][5], by_name["cuMemRelease"][6]), ("handle=5", "1"))
        self.assertEqual(by_name["cuArray3DCreate_v2"][6], str(NOT_SUPPORTED))

    def test_without_the_variable_there_is_none(self):
        for value in ("", "0"):
            self.assertEqual(self.client("tidy", SYMMCTS_TRACE=value).stderr, "")


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--lib", required=True)
    parser.add_argument("--client", choices=sorted(CLIENTS))
    OPTIONS, rest = parser.parse_known_args()
    if OPTIONS.client is not None:
        CLIENTS[OPTIONS.client](Platform(OPTIONS.lib))
        return
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
