#include "harness/platform/process/handle_table.hpp"

namespace symmcts::platform {

std::shared_ptr<Handle> HandleTable::add(const HandleInfo& info, bool created, const char* made_by,
                                         Ns made_at) {
  auto handle = std::make_shared<Handle>();
  handle->number = next_;
  handle->info = info;
  if (created) created_.insert(info.object);
  handle->references = 1;
  handle->block_id = block_ids_.try_emplace(info.object, block_ids_.size() + 1).first->second;
  handle->made_by = made_by;
  handle->made_at = made_at;
  next_ += kStep;
  handles_.emplace(handle->number, handle);
  return handle;
}

std::shared_ptr<Handle> HandleTable::find(AppHandle number) const {
  const auto known = handles_.find(number);
  if (known == handles_.end() || known->second->references == 0) return nullptr;
  return known->second;
}

bool HandleTable::given(AppHandle number) const {
  return number >= kFirst && number < next_ && (number - kFirst) % kStep == 0;
}

std::vector<std::shared_ptr<Handle>> HandleTable::held() const {
  std::vector<std::shared_ptr<Handle>> out;
  for (const auto& [number, handle] : handles_) {
    if (handle->references != 0) out.push_back(handle);
  }
  return out;
}

void HandleTable::reference(const std::shared_ptr<Handle>& handle) {
  ++handle->references;
  handles_.emplace(handle->number, handle);
}

bool HandleTable::release(const std::shared_ptr<Handle>& handle) {
  if (--handle->references != 0) return false;
  forget_if_unused(*handle);
  return true;
}

void HandleTable::mapped(const std::shared_ptr<Handle>& handle) { ++handle->mappings; }

void HandleTable::unmapped(const std::shared_ptr<Handle>& handle) {
  --handle->mappings;
  forget_if_unused(*handle);
}

std::uint64_t HandleTable::created_bytes(int gpu) const {
  std::set<std::uint64_t> counted;
  std::uint64_t bytes = 0;
  for (const auto& [number, handle] : handles_) {
    const HandleInfo& info = handle->info;
    if (info.kind != ObjectKind::memory || info.gpu != gpu) continue;
    if (created_.contains(info.object) && counted.insert(info.object).second) bytes += info.size;
  }
  return bytes;
}

void HandleTable::forget_if_unused(const Handle& handle) {
  if (handle.references == 0 && handle.mappings == 0) handles_.erase(handle.number);
}

}  // namespace symmcts::platform
