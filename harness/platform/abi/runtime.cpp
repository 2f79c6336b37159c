#include "harness/platform/abi/runtime.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>

#include "harness/platform/abi/call.hpp"
#include "harness/platform/abi/cupti_link.hpp"
#include "harness/platform/abi/exchange.hpp"
#include "harness/platform/abi/visible_devices.hpp"
#include "harness/platform/model/scenario.hpp"
#include "harness/support/printable.hpp"

namespace symmcts::platform::abi {
namespace {

std::mutex start_mutex;
CUresult start_result =
    CUDA_ERROR_NOT_INITIALIZED;  // of the first cuInit; every later one answers it
std::atomic<Runtime*> running{nullptr};

// A forked child has the parent's memory but neither its threads nor, in the driver's eyes, a
// context: every call answers NOT_INITIALIZED. Nothing is freed, the parent still owns it.
void after_fork_in_child() { running.store(nullptr); }

CUresult refuse(const std::string& why, CUresult code) {
  say("cuInit: " + why);
  return code;
}

CUresult build(Runtime& runtime) {
  auto environment = read_environment();
  if (!environment) return refuse(environment.error(), CUDA_ERROR_INVALID_VALUE);
  runtime.environment = std::move(environment.value());
  runtime.environment.join.managed = exchange_managed();
  auto client = Client::join(runtime.environment.join);
  if (!client) return refuse(client.error(), CUDA_ERROR_SYSTEM_NOT_READY);
  runtime.client = std::move(client.value());
  const MachineInfo& machine = runtime.client->machine();
  auto profile = parse_profile(machine.profile_text, machine.profile_name);
  if (!profile) return refuse(profile.error(), CUDA_ERROR_SYSTEM_NOT_READY);
  runtime.profile = std::move(profile.value());
  auto scenario = parse_scenario(machine.scenario_text, "the machine's scenario");
  if (!scenario) return refuse(scenario.error(), CUDA_ERROR_SYSTEM_NOT_READY);
  runtime.faults = std::make_unique<FaultPlan>(scenario.value().rank_faults, machine.rank);
  runtime.visible =
      visible_devices(runtime.environment.visible_devices, machine.first_gpu, machine.gpu_count);
  if (runtime.visible.empty()) return CUDA_ERROR_NO_DEVICE;
  runtime.primary.resize(runtime.visible.size());
  runtime.streams = Streams::make(*runtime.client, runtime.profile);
  runtime.memory =
      Memory::make(*runtime.client, runtime.profile, *runtime.streams, runtime.visible);
  runtime.streams->attach(*runtime.memory, runtime.records);
  return CUDA_SUCCESS;
}

// The injection library of CUDA_INJECTION64_PATH, as a driver loads it: after the machine is up,
// before cuInit returns.
void inject(const std::string& path) {
  if (path.empty()) return;
  void* library = dlopen(path.c_str(), RTLD_NOW);
  if (library == nullptr) {
    say("CUDA_INJECTION64_PATH: " + std::string(dlerror()));
    return;
  }
  auto* entry = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (entry == nullptr) {
    say("CUDA_INJECTION64_PATH=" + path + ": no function InitializeInjection");
  } else if (entry() == 0) {
    say("CUDA_INJECTION64_PATH=" + path + ": InitializeInjection reported failure");
  }
}

}  // namespace

Runtime* Runtime::get() { return running.load(std::memory_order_acquire); }

CUresult Runtime::start() {
  {
    const std::lock_guard lock(start_mutex);
    if (start_result != CUDA_ERROR_NOT_INITIALIZED) {
      // In a fork of the process that started it, the platform is gone for good.
      if (start_result == CUDA_SUCCESS && get() == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
      return start_result;
    }
    auto runtime = std::make_unique<Runtime>();
    start_result = build(*runtime);
    if (start_result != CUDA_SUCCESS) return start_result;
    pthread_atfork(nullptr, nullptr, after_fork_in_child);
    exchange_catch_up(*runtime->streams);
    running.store(runtime.release(), std::memory_order_release);
  }
  inject(get()->environment.injection);
  return CUDA_SUCCESS;
}

int Runtime::ordinal_of(int gpu) const {
  for (std::size_t ordinal = 0; ordinal < visible.size(); ++ordinal) {
    if (visible[ordinal] == gpu) return static_cast<int>(ordinal);
  }
  return -1;
}

bool Runtime::valid_ordinal(int ordinal) const {
  return ordinal >= 0 && static_cast<std::size_t>(ordinal) < visible.size();
}

std::shared_ptr<Context> Runtime::make_context(int ordinal, bool primary_context, unsigned flags) {
  auto context = std::make_shared<Context>();
  context->id = ++next_context_id;
  context->ordinal = ordinal;
  context->primary = primary_context;
  context->flags = flags;
  contexts.insert(context);
  records.first_context(ordinal, context->id);
  return context;
}

void Runtime::end_context(const std::shared_ptr<Context>& context) {
  streams->synchronize_device(context->ordinal);
  context->alive = false;
  for (const auto& stream : stream_handles.all()) {
    if (stream->context == context && stream_handles.take(stream->handle)) {
      captures.forget_stream(stream->id);
      streams->destroy(stream->id);
    }
  }
  for (const auto& event : events.all()) {
    if (event->context == context && events.take(event->handle)) streams->destroy_event(event->id);
  }
  std::vector<std::uint64_t> ended;
  {
    const std::lock_guard lock(blocks_mutex);
    for (auto at = blocks.begin(); at != blocks.end();) {
      if (at->second.context == context) {
        ended.push_back(at->first);
        at = blocks.erase(at);
      } else {
        ++at;
      }
    }
  }
  for (const std::uint64_t address : ended) memory->free_device(address);
  const std::lock_guard lock(context->mutex);
  context->peers.clear();
}

std::shared_ptr<Context> Runtime::block_owner(std::uint64_t address, std::uint64_t& start,
                                              std::uint64_t& size) {
  const std::lock_guard lock(blocks_mutex);
  auto at = blocks.upper_bound(address);
  if (at == blocks.begin()) return nullptr;
  --at;
  if (address >= at->first + at->second.size) return nullptr;
  start = at->first;
  size = at->second.size;
  return at->second.context;
}

void Records::belongs(StreamId stream, std::uint32_t context) {
  const std::lock_guard lock(mutex_);
  contexts_.emplace(stream, context);  // the first context that used a default stream keeps it
}

void Records::first_context(int ordinal, std::uint32_t context) {
  const std::lock_guard lock(mutex_);
  first_.emplace(ordinal, context);
}

std::uint32_t Records::context_of(StreamId stream, int ordinal) {
  const std::lock_guard lock(mutex_);
  if (const auto at = contexts_.find(stream); at != contexts_.end()) return at->second;
  const auto at = first_.find(ordinal);
  return at == first_.end() ? 0 : at->second;
}

void Records::on_copy(const CopyRecord& record) {
  const CuptiHooks* hooks = cupti_hooks();
  if (hooks == nullptr) return;
  CopyRecord out = record;
  out.context = context_of(record.stream, record.device);
  hooks->copy(out);
}

void Records::on_fill(const FillRecord& record) {
  const CuptiHooks* hooks = cupti_hooks();
  if (hooks == nullptr) return;
  FillRecord out = record;
  out.context = context_of(record.stream, record.device);
  hooks->fill(out);
}

void say(const std::string& line) {
  std::fprintf(stderr, "symm-cts platform: %s\n", printable(line).c_str());
}

}  // namespace symmcts::platform::abi
