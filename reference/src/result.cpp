#include "symm_mem/result.hpp"

#include "wire.hpp"

namespace symm_mem {

std::string_view phase_name(Phase phase) {
  switch (phase) {
    case Phase::open:
      return "open";
    case Phase::allocate:
      return "allocate";
    case Phase::layout:
      return "layout";
    case Phase::export_memory:
      return "export";
    case Phase::import_memory:
      return "import";
    case Phase::map_peers:
      return "map-peers";
    case Phase::create_multicast:
      return "create-multicast";
    case Phase::share_multicast:
      return "share-multicast";
    case Phase::import_multicast:
      return "import-multicast";
    case Phase::add_device:
      return "add-device";
    case Phase::bind:
      return "bind";
    case Phase::map_multicast:
      return "map";
    case Phase::release_create:
      return "release-create";
    case Phase::probe:
      return "probe";
    case Phase::retry:
      return "retry";
    case Phase::ready:
      return "ready";
    case Phase::use:
      return "use";
    case Phase::teardown:
      return "teardown";
  }
  return "unknown";
}

Status check(CUresult code, const char* call, Phase phase) {
  if (code == CUDA_SUCCESS) return {};
  return Error{.call = call, .code = code, .phase = phase};
}

void put_status(Writer& writer, const Status& status) {
  writer.put(static_cast<std::uint8_t>(status ? 0 : 1));
  if (status) return;
  const Error& error = status.error();
  writer.put_text(error.call);
  writer.put(static_cast<std::int32_t>(error.code));
  writer.put(static_cast<std::int32_t>(error.rank));
  writer.put(static_cast<std::uint8_t>(error.phase));
  writer.put_text(error.text);
}

Status get_status(Reader& reader) {
  if (reader.get<std::uint8_t>() == 0) return {};
  Error error;
  error.call = reader.get_text();
  error.code = static_cast<CUresult>(reader.get<std::int32_t>());
  error.rank = reader.get<std::int32_t>();
  error.phase = static_cast<Phase>(reader.get<std::uint8_t>());
  error.text = reader.get_text();
  return error;
}

}  // namespace symm_mem
