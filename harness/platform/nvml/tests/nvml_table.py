#!/usr/bin/env python3
"""Prints what a libnvidia-ml.so.1 answers, a line a question: result code, then values.

  nvml_table.py --lib libnvidia-ml.so.1

Only questions: nothing is set, so it may run beside other users of a host with two GPUs. What two H200
answered is kept in fixtures/oracles, and is what the platform must print. What differs from host to
host by nature (identities, addresses of devices) is shown by its shape.
"""
import argparse
import ctypes
import re
from ctypes import byref, c_char, c_int, c_ubyte, c_uint, c_ulonglong, c_void_p


class Pci(ctypes.Structure):
    _fields_ = [("legacy", c_char * 16), ("domain", c_uint), ("bus", c_uint), ("device", c_uint),
                ("device_id", c_uint), ("subsystem_id", c_uint), ("bus_id", c_char * 32)]


class Memory(ctypes.Structure):
    _fields_ = [("total", c_ulonglong), ("free", c_ulonglong), ("used", c_ulonglong)]


class MemoryV2(ctypes.Structure):
    _fields_ = [("version", c_uint), ("total", c_ulonglong), ("reserved", c_ulonglong),
                ("free", c_ulonglong), ("used", c_ulonglong)]


class Fabric(ctypes.Structure):
    _fields_ = [("uuid", c_ubyte * 16), ("status", c_int), ("clique", c_uint), ("state", c_ubyte)]


class FabricV3(ctypes.Structure):
    _fields_ = [("version", c_uint), ("uuid", c_ubyte * 16), ("status", c_int), ("clique", c_uint),
                ("state", c_ubyte), ("health", c_uint), ("summary", c_ubyte)]


class FabricV2(ctypes.Structure):
    _fields_ = FabricV3._fields_[:-1]


class Confidential(ctypes.Structure):
    _fields_ = [("environment", c_uint), ("feature", c_uint), ("tools", c_uint)]


def version(structure, number):
    return ctypes.sizeof(structure) | number << 24


def shape(text):
    """Every hexadecimal digit becomes x: the form of an identity, without whose it is."""
    return re.sub(r"[0-9a-fA-F]", "x", text)


class Table:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def call(self, name, *arguments):
        return getattr(self.library, name)(*arguments)

    def line(self, question, code, *values):
        shown = " ".join(str(value) for value in values)
        print(f"{question}: {code}" + (f" {shown}" if code == 0 and shown else ""))

    def text(self, question, name, length, *arguments, hide=False):
        buffer = ctypes.create_string_buffer(length)
        code = self.call(name, *arguments, buffer, c_uint(length))
        value = buffer.value.decode()
        self.line(question, code, shape(value) if hide else value)
        return value

    def number(self, question, name, *arguments, kind=c_uint, also=()):
        value = kind(0)
        code = self.call(name, *arguments, byref(value))
        self.line(question, code, value.value, *also)
        return value.value

    def handle(self, index):
        device = c_void_p()
        if self.call("nvmlDeviceGetHandleByIndex_v2", c_uint(index), byref(device)) != 0:
            raise SystemExit(f"nvml_table.py: no device {index}")
        return device

    def life(self):
        count = c_uint()
        self.line("count before init", self.call("nvmlDeviceGetCount_v2", byref(count)))
        self.line("shutdown before init", self.call("nvmlShutdown"))
        self.line("init", self.call("nvmlInit_v2"))
        self.line("init again", self.call("nvmlInit_v2"))
        self.line("init of the first version", self.call("nvmlInit"))
        self.line("init with flags 0", self.call("nvmlInitWithFlags", c_uint(0)))
        for ordinal in ("first", "second", "third"):
            self.line(f"{ordinal} shutdown", self.call("nvmlShutdown"))

    def system(self):
        self.text("driver version", "nvmlSystemGetDriverVersion", 80)
        self.text("driver version, 3 bytes", "nvmlSystemGetDriverVersion", 3)
        self.number("CUDA driver version", "nvmlSystemGetCudaDriverVersion_v2", kind=c_int)
        state = Confidential()
        code = self.call("nvmlSystemGetConfComputeState", byref(state))
        self.line("confidential computing", code, state.environment, state.feature, state.tools)

    def lookups(self, count):
        device = c_void_p()
        self.line("handle by index -1",
                  self.call("nvmlDeviceGetHandleByIndex_v2", c_uint(0xffffffff), byref(device)))
        self.line("handle by index past the end",
                  self.call("nvmlDeviceGetHandleByIndex_v2", c_uint(count), byref(device)))
        self.line("handle by index to null",
                  self.call("nvmlDeviceGetHandleByIndex_v2", c_uint(0), None))
        self.line("handle by an unknown UUID",
                  self.call("nvmlDeviceGetHandleByUUID",
                            b"GPU-00000000-0000-0000-0000-000000000000", byref(device)))
        self.line("handle by no UUID",
                  self.call("nvmlDeviceGetHandleByUUID", b"hello", byref(device)))
        self.line("handle by an unknown bus id",
                  self.call("nvmlDeviceGetHandleByPciBusId_v2", b"00000000:FF:1F.0",
                            byref(device)))
        self.line("handle by no bus id",
                  self.call("nvmlDeviceGetHandleByPciBusId_v2", b"hello", byref(device)))
        self.line("index of no device", self.call("nvmlDeviceGetIndex", None, byref(c_uint())))
        for index in (0, 1):
            self.line(f"handle by index {index}",
                      self.call("nvmlDeviceGetHandleByIndex_v2", c_uint(index), byref(device)))

    def device(self, index):
        device, who = self.handle(index), f"device {index}"
        self.text(f"{who} name", "nvmlDeviceGetName", 96, device)
        self.text(f"{who} name, 4 bytes", "nvmlDeviceGetName", 4, device)
        uuid = self.text(f"{who} UUID", "nvmlDeviceGetUUID", 96, device, hide=True)
        self.text(f"{who} UUID, 40 bytes", "nvmlDeviceGetUUID", 40, device, hide=True)
        pci = Pci()
        for name in ("nvmlDeviceGetPciInfo", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo_v3"):
            code = self.call(name, device, byref(pci))
            self.line(f"{who} {name}", code, shape(pci.legacy.decode()), pci.domain,
                      hex(pci.device_id), hex(pci.subsystem_id), shape(pci.bus_id.decode()))
        again = c_void_p()
        for name, key in (("nvmlDeviceGetHandleByUUID", uuid.encode()),
                          ("nvmlDeviceGetHandleByUUID", uuid[:9].encode()),
                          ("nvmlDeviceGetHandleByPciBusId_v2", pci.bus_id),
                          ("nvmlDeviceGetHandleByPciBusId_v2", pci.legacy),
                          ("nvmlDeviceGetHandleByPciBusId_v2", pci.bus_id.lower())):
            code = self.call(name, key, byref(again))
            self.line(f"{who} {name} of its own {shape(key.decode())}", code)
        memory, memory2 = Memory(), MemoryV2()
        code = self.call("nvmlDeviceGetMemoryInfo", device, byref(memory))
        self.line(f"{who} memory", code, memory.total, memory.free, memory.used)
        code = self.call("nvmlDeviceGetMemoryInfo_v2", device, byref(memory2))
        self.line(f"{who} memory v2 without a version", code)
        memory2.version = version(MemoryV2, 2)
        code = self.call("nvmlDeviceGetMemoryInfo_v2", device, byref(memory2))
        self.line(f"{who} memory v2", code, memory2.total, memory2.reserved, memory2.free,
                  memory2.used)
        current, pending = c_uint(), c_uint()
        code = self.call("nvmlDeviceGetMigMode", device, byref(current), byref(pending))
        self.line(f"{who} MIG mode", code, current.value, pending.value)
        for name in ("", "_v2", "_v3"):
            code = self.call("nvmlDeviceGetComputeRunningProcesses" + name, device,
                             byref(c_uint(0)), None)
            self.line(f"{who} compute processes{name}", code)
        self.fabric(device, who)
        self.links(device, who)

    def fabric(self, device, who):
        info = Fabric()
        code = self.call("nvmlDeviceGetGpuFabricInfo", device, byref(info))
        self.line(f"{who} fabric", code, f"state {info.state} status {info.status} clique "
                  f"{info.clique} uuid {bytes(info.uuid).hex()}")
        old = FabricV2()
        self.line(f"{who} fabric V without a version",
                  self.call("nvmlDeviceGetGpuFabricInfoV", device, byref(old)))
        old.version = version(FabricV2, 2)
        code = self.call("nvmlDeviceGetGpuFabricInfoV", device, byref(old))
        self.line(f"{who} fabric v2", code, f"state {old.state} status {old.status} clique "
                  f"{old.clique} uuid {bytes(old.uuid).hex()} health {old.health:#x}")
        new = FabricV3(version=version(FabricV3, 3))
        code = self.call("nvmlDeviceGetGpuFabricInfoV", device, byref(new))
        self.line(f"{who} fabric v3", code, f"state {new.state} status {new.status} clique "
                  f"{new.clique} uuid {bytes(new.uuid).hex()} health {new.health:#x} summary "
                  f"{new.summary}")

    def links(self, device, who):
        for link in (0, 17, 18):
            at, link = f"{who} link {link}", c_uint(link)
            self.number(f"{at} state", "nvmlDeviceGetNvLinkState", device, link)
            self.number(f"{at} version", "nvmlDeviceGetNvLinkVersion", device, link)
            self.number(f"{at} remote type", "nvmlDeviceGetNvLinkRemoteDeviceType", device, link)
            pci = Pci()
            code = self.call("nvmlDeviceGetNvLinkRemotePciInfo_v2", device, link, byref(pci))
            self.line(f"{at} remote address", code, pci.legacy.decode(), hex(pci.domain),
                      hex(pci.bus), hex(pci.device), hex(pci.device_id), hex(pci.subsystem_id),
                      pci.bus_id.decode())
            for capability in range(7):
                self.number(f"{at} capability {capability}", "nvmlDeviceGetNvLinkCapability",
                            device, link, c_uint(capability))

    def pairs(self):
        first, second = self.handle(0), self.handle(1)
        for capability in range(7):
            self.number(f"P2P status {capability}", "nvmlDeviceGetP2PStatus", first, second,
                        c_int(capability), kind=c_int)
        self.number("P2P status to itself", "nvmlDeviceGetP2PStatus", first, first, c_int(2),
                    kind=c_int)
        self.number("common ancestor", "nvmlDeviceGetTopologyCommonAncestor", first, second,
                    kind=c_int)
        self.number("common ancestor with itself", "nvmlDeviceGetTopologyCommonAncestor", first,
                    first, kind=c_int)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lib", default="libnvidia-ml.so.1")
    options = parser.parse_args()
    table = Table(options.lib)
    table.life()
    table.system()
    count = c_uint()
    table.call("nvmlDeviceGetCount_v2", byref(count))
    table.lookups(count.value)
    table.device(0)
    table.pairs()
    table.line("last shutdown", table.call("nvmlShutdown"))
    table.line("one shutdown too many", table.call("nvmlShutdown"))


if __name__ == "__main__":
    main()
