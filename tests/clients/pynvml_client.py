#!/usr/bin/env python3
"""pynvml (PyPI nvidia-ml-py), a client that nobody here wrote, on the platform's libnvidia-ml.so.1.

  pynvml_client.py --lib ABSOLUTE/libnvidia-ml.so.1 --venv FOLDER

Asks what PyTorch and NCCL ask when they look for a fabric: of a GB200 with a registered fabric, and of
an HGX H200, whose answers were measured (fixtures/oracles/h200-x2/nvml.txt). Exits 77 where the
package is missing.
"""
import argparse
import ctypes
import os
import subprocess
import sys

from client import inside_venv


def ask():
    import pynvml as nvml
    nvml.nvmlInit()
    seen = {"driver": nvml.nvmlSystemGetDriverVersion(),
            "cuda": nvml.nvmlSystemGetCudaDriverVersion(),
            "count": nvml.nvmlDeviceGetCount()}
    device, other = [nvml.nvmlDeviceGetHandleByIndex(index) for index in (0, 1)]
    seen["name"] = nvml.nvmlDeviceGetName(device)
    pci = nvml.nvmlDeviceGetPciInfo(device)
    again = nvml.nvmlDeviceGetHandleByPciBusId(pci.busId)
    seen["found again"] = (nvml.nvmlDeviceGetIndex(again),
                           nvml.nvmlDeviceGetIndex(
                               nvml.nvmlDeviceGetHandleByUUID(nvml.nvmlDeviceGetUUID(other))))
    seen["link"] = (nvml.nvmlDeviceGetNvLinkState(device, 0),
                    nvml.nvmlDeviceGetNvLinkRemoteDeviceType(device, 0),
                    nvml.nvmlDeviceGetNvLinkCapability(device, 0,
                                                       nvml.NVML_NVLINK_CAP_P2P_SUPPORTED))
    seen["p2p"] = nvml.nvmlDeviceGetP2PStatus(device, other, nvml.NVML_P2P_CAPS_INDEX_NVLINK)
    seen["capability"] = nvml.nvmlDeviceGetCudaComputeCapability(device)
    seen["processes"] = nvml.nvmlDeviceGetComputeRunningProcesses(device)
    seen["memory"] = nvml.nvmlDeviceGetMemoryInfo(device).total
    fabric = nvml.c_nvmlGpuFabricInfoV_t()
    nvml.nvmlDeviceGetGpuFabricInfoV(device, ctypes.byref(fabric))
    seen["fabric"] = (fabric.state, fabric.status, bytes(fabric.clusterUuid) != bytes(16))
    try:
        nvml.nvmlDeviceGetPowerUsage(device)
        seen["power"] = "answered"
    except nvml.NVMLError_NotSupported:
        seen["power"] = "not supported"
    nvml.nvmlShutdown()
    print(repr(seen))


COMMON = {"cuda": 13000, "found again": (0, 1), "link": (1, 2, 1), "p2p": 0, "processes": [],
          "power": "not supported", "driver": "580.159.04"}
EXPECTED = {
    "hgx-h200": {**COMMON, "count": 8, "name": "NVIDIA H200", "capability": (9, 0),
                 "memory": 150754820096, "fabric": (3, 0, False)},
    "gb200-nvl2": {**COMMON, "count": 2, "name": "NVIDIA GB200", "capability": (10, 0),
                   "memory": 186000000000 + 644939776, "fabric": (3, 0, True)},
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lib", required=True)
    parser.add_argument("--venv", required=True)
    parser.add_argument("--ask", action="store_true")
    options = parser.parse_args()
    inside_venv(options.venv)
    # Whoever asks the loader for libnvidia-ml.so.1 gets the one that is loaded already.
    ctypes.CDLL(options.lib)
    if options.ask:
        ask()
        return
    for platform, expected in EXPECTED.items():
        environment = dict(os.environ, SYMMCTS_PLATFORM=platform)
        environment.pop("SYMMCTS_MACHINE", None)
        ran = subprocess.run([sys.executable, "-B", sys.argv[0], "--lib", options.lib, "--venv",
                              options.venv, "--ask"], env=environment, text=True,
                             stdout=subprocess.PIPE, check=True)
        seen = eval(ran.stdout, {"__builtins__": {}})  # what ask() printed
        for key, value in expected.items():
            if seen.get(key) != value:
                sys.exit(f"{platform}: {key} is {seen.get(key)!r}, expected {value!r}")
        print(f"{platform}: {len(expected)} answers as expected")


if __name__ == "__main__":
    main()
