#pragma once

#include <cupti.h>

// What the fake driver asks of the fake CUPTI: to call the subscriber, as the driver would.
using FakeCuptiCall = void (*)(CUpti_ApiCallbackSite site, CUpti_CallbackId id, const char* name,
                               const void* params, CUresult* result);
