#include "harness/platform/process/mapping_table.hpp"

#include <iterator>

namespace symmcts::platform {

std::vector<std::shared_ptr<Mapping>> MappingTable::all() const {
  std::vector<std::shared_ptr<Mapping>> out;
  for (const auto& [base, mapping] : mappings_) out.push_back(mapping);
  return out;
}

std::shared_ptr<Mapping> MappingTable::find(std::uint64_t address) const {
  auto at = mappings_.upper_bound(address);
  if (at == mappings_.begin()) return nullptr;
  const auto& mapping = std::prev(at)->second;
  if (mapping->pending || address - mapping->base >= mapping->size) return nullptr;
  return mapping;
}

bool MappingTable::free(std::uint64_t address, std::uint64_t size) const {
  const auto next = mappings_.lower_bound(address);
  if (next != mappings_.end() && next->first - address < size) return false;
  if (next == mappings_.begin()) return true;
  const auto& before = std::prev(next)->second;
  return address - before->base >= before->size;
}

std::vector<std::shared_ptr<Mapping>> MappingTable::tiles(std::uint64_t address,
                                                          std::uint64_t size) const {
  std::vector<std::shared_ptr<Mapping>> found;
  for (std::uint64_t done = 0; done < size;) {
    const auto at = mappings_.find(address + done);
    if (at == mappings_.end() || at->second->pending || at->second->size > size - done) return {};
    found.push_back(at->second);
    done += at->second->size;
  }
  return found;
}

std::optional<std::vector<std::shared_ptr<Mapping>>> MappingTable::inside(
    std::uint64_t address, std::uint64_t size) const {
  auto at = mappings_.lower_bound(address);
  if (at != mappings_.begin()) {
    const Mapping& before = *std::prev(at)->second;
    if (address - before.base < before.size) return std::nullopt;
  }
  std::vector<std::shared_ptr<Mapping>> found;
  for (; at != mappings_.end() && at->first - address < size; ++at) {
    if (at->second->size > size - (at->first - address)) return std::nullopt;
    found.push_back(at->second);
  }
  return found;
}

}  // namespace symmcts::platform
