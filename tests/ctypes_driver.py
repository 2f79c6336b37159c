"""The platform's driver for ctypes: structures, signatures, and the refusal of any other driver.

Layouts are those of cuda.h; the numbers are its enumerations.
"""
import ctypes
import os
import sys
from ctypes import POINTER, byref, c_char, c_int, c_size_t, c_ubyte, c_uint, c_ulonglong, c_void_p

SUCCESS, INVALID_VALUE, UNKNOWN = 0, 1, 999
FD, FABRIC = 1, 8                      # CUmemAllocationHandleType
ORDINAL, MAPPED, ALLOWED = 9, 13, 14   # CUpointer_attribute
MIB = 1 << 20


class Location(ctypes.Structure):
    _fields_ = [("type", c_int), ("id", c_int)]


class AllocationProp(ctypes.Structure):
    _fields_ = [("type", c_int), ("handle_types", c_int), ("location", Location),
                ("win32", c_void_p), ("flags", c_ubyte * 8)]


class AccessDesc(ctypes.Structure):
    _fields_ = [("location", Location), ("flags", c_int)]


class MulticastProp(ctypes.Structure):
    _fields_ = [("devices", c_uint), ("size", c_size_t), ("handle_types", c_ulonglong),
                ("flags", c_ulonglong)]


class DlInfo(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("base", c_void_p), ("name", ctypes.c_char_p),
                ("address", c_void_p)]


ARGUMENTS = {
    "cuInit": [c_uint], "cuDeviceGetCount": [POINTER(c_int)],
    "cuDevicePrimaryCtxRetain": [POINTER(c_void_p), c_int], "cuCtxSetCurrent": [c_void_p],
    "cuCtxSynchronize": [],
    "cuMemAddressReserve": [POINTER(c_ulonglong), c_size_t, c_size_t, c_ulonglong, c_ulonglong],
    "cuMemAddressFree": [c_ulonglong, c_size_t],
    "cuMemCreate": [POINTER(c_ulonglong), c_size_t, POINTER(AllocationProp), c_ulonglong],
    "cuMemRelease": [c_ulonglong],
    "cuMemMap": [c_ulonglong, c_size_t, c_size_t, c_ulonglong, c_ulonglong],
    "cuMemUnmap": [c_ulonglong, c_size_t],
    "cuMemSetAccess": [c_ulonglong, c_size_t, POINTER(AccessDesc), c_size_t],
    "cuMemExportToShareableHandle": [c_void_p, c_ulonglong, c_int, c_ulonglong],
    "cuMemImportFromShareableHandle": [POINTER(c_ulonglong), c_void_p, c_int],
    "cuMemGetAllocationPropertiesFromHandle": [POINTER(AllocationProp), c_ulonglong],
    "cuMemRetainAllocationHandle": [POINTER(c_ulonglong), c_void_p],
    "cuMulticastCreate": [POINTER(c_ulonglong), POINTER(MulticastProp)],
    "cuMulticastAddDevice": [c_ulonglong, c_int],
    "cuMulticastBindMem": [c_ulonglong, c_size_t, c_ulonglong, c_size_t, c_size_t, c_ulonglong],
    "cuMulticastUnbind": [c_ulonglong, c_int, c_size_t, c_size_t],
    "cuMulticastGetGranularity": [POINTER(c_size_t), POINTER(MulticastProp), c_int],
    "cuPointerGetAttribute": [c_void_p, c_int, c_ulonglong],
    "cuMemcpyHtoD_v2": [c_ulonglong, c_void_p, c_size_t],
    "cuMemcpyDtoH_v2": [c_void_p, c_ulonglong, c_size_t],
    "cuMemsetD8_v2": [c_ulonglong, c_ubyte, c_size_t],
}


def refuse(why):
    print(f"{os.path.basename(sys.argv[0])}: {why}", file=sys.stderr)
    sys.exit(3)


def object_of(function):
    """The file of the library that a function lies in (dladdr)."""
    info = DlInfo()
    ctypes.CDLL(None).dladdr(ctypes.cast(function, c_void_p), byref(info))
    return os.path.realpath(info.file.decode()) if info.file else None


def open_platform(path):
    if not os.path.isabs(path):
        refuse(f"{path}: not an absolute path")
    library = ctypes.CDLL(path)
    marker = getattr(library, "symmcts_platform_abi", None)
    home = object_of(library.cuMulticastCreate)
    if marker is None or object_of(marker) != home or home != os.path.realpath(path):
        refuse(f"{path}: no symmcts_platform_abi beside cuMulticastCreate: not the software "
               "platform, nothing was called")
    for name, arguments in ARGUMENTS.items():
        getattr(library, name).argtypes = arguments
    return library


class Platform:
    """The calls, with a result code that is not success turned into an exception."""

    def __init__(self, path):
        self.library = open_platform(path)
        self("cuInit", 0)

    def code(self, name, *arguments):
        return getattr(self.library, name)(*arguments)

    def __call__(self, name, *arguments):
        code = self.code(name, *arguments)
        if code != SUCCESS:
            raise RuntimeError(f"{name} returned {code}")

    def use(self, device):
        context = c_void_p()
        self("cuDevicePrimaryCtxRetain", byref(context), device)
        self("cuCtxSetCurrent", context)

    def create(self, device, size, types):
        prop = AllocationProp(type=1, handle_types=types, location=Location(1, device))
        handle = c_ulonglong()
        self("cuMemCreate", byref(handle), size, byref(prop), 0)
        return handle.value

    def create_multicast(self, devices, size, types):
        prop = MulticastProp(devices=devices, size=size, handle_types=types, flags=0)
        handle = c_ulonglong()
        self("cuMulticastCreate", byref(handle), byref(prop))
        return handle.value

    def export_fd(self, handle):
        fd = c_int(-1)
        self("cuMemExportToShareableHandle", byref(fd), handle, FD, 0)
        return fd.value

    def import_fd(self, fd):
        handle = c_ulonglong()
        self("cuMemImportFromShareableHandle", byref(handle), c_void_p(fd), FD)
        return handle.value

    def export_fabric(self, handle):
        token = (c_ubyte * 64)()
        self("cuMemExportToShareableHandle", token, handle, FABRIC, 0)
        return bytes(token)

    def import_fabric(self, token):
        handle = c_ulonglong()
        self("cuMemImportFromShareableHandle", byref(handle), (c_ubyte * 64)(*token), FABRIC)
        return handle.value

    def map(self, handle, size, devices):
        address = c_ulonglong()
        self("cuMemAddressReserve", byref(address), size, 0, 0, 0)
        self("cuMemMap", address.value, size, 0, handle, 0)
        grants = (AccessDesc * len(devices))(*[AccessDesc(Location(1, d), 3) for d in devices])
        self("cuMemSetAccess", address.value, size, grants, len(devices))
        return address.value

    def unmap(self, address, size):
        self("cuMemUnmap", address, size)
        self("cuMemAddressFree", address, size)

    def attribute(self, which, address):
        value = c_ulonglong(0)
        self("cuPointerGetAttribute", byref(value), which, address)
        return value.value

    def requested_types(self, handle):
        prop = AllocationProp()
        self("cuMemGetAllocationPropertiesFromHandle", byref(prop), handle)
        return prop.handle_types

    def write(self, address, data):
        self("cuMemcpyHtoD_v2", address, (c_char * len(data))(*data), len(data))

    def read(self, address, size):
        out = (c_char * size)()
        self("cuMemcpyDtoH_v2", out, address, size)
        return out.raw
