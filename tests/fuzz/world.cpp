#include "tests/fuzz/world.hpp"

#include <algorithm>
#include <iterator>

namespace symmcts::fuzz {

std::string name(const Object& object) {
  return (object.multicast ? "team " : "memory ") + std::to_string(object.number);
}

Mapping* World::mapping_at(CUdeviceptr at) {
  auto found = mappings.upper_bound(at);
  if (found == mappings.begin()) return nullptr;
  --found;
  return at - found->first < found->second.size ? &found->second : nullptr;
}

bool World::mapped_in(CUdeviceptr at, std::size_t size) const {
  return std::any_of(mappings.begin(), mappings.end(), [&](const auto& entry) {
    return entry.first < at + size && at < entry.first + entry.second.size;
  });
}

bool World::created_here(const Object& object) const {
  const auto native = [&](const Handle& handle) {
    return handle.native && handle.object.get() == &object;
  };
  return std::any_of(handles.begin(), handles.end(),
                     [&](const auto& entry) { return native(*entry.second); }) ||
         std::any_of(mappings.begin(), mappings.end(),
                     [&](const auto& entry) { return native(*entry.second.handle); });
}

std::set<ObjectPtr> World::objects(bool by_descriptors) const {
  std::set<ObjectPtr> out;
  for (const auto& [value, handle] : handles) out.insert(handle->object);
  for (const auto& [at, mapping] : mappings) out.insert(mapping.handle->object);
  if (!by_descriptors) return out;
  for (const auto& [fd, object] : descriptors) out.insert(object);
  return out;
}

std::size_t World::memory_used(int device, bool by_descriptors) const {
  std::size_t used = 0;
  for (const ObjectPtr& object : objects(by_descriptors)) {
    if (!object->multicast && object->device == device) used += object->size;
  }
  for (const auto& [at, block] : blocks) {
    if (block.first == device) used += (block.second + kBlock - 1) / kBlock * kBlock;
  }
  return used;
}

std::size_t World::slots_used() const {
  const auto all = objects();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const auto& object) { return object->has_slot; }));
}

void World::collect() {
  const auto all = objects();
  for (const ObjectPtr& object : all) {
    std::vector<Object::Binding> kept;
    for (const Object::Binding& binding : object->bindings) {
      if (all.count(binding.memory.lock()) != 0) kept.push_back(binding);
    }
    object->bindings = std::move(kept);
  }
}

std::vector<Cell*> World::cells(const Mapping& mapping, std::size_t offset, std::size_t size) {
  std::vector<Cell*> out;
  const auto add = [&](Object& memory, std::size_t from, std::size_t to) {
    for (std::size_t i = (from + kCell - 1) / kCell; i * kCell < to; ++i) {
      out.push_back(&memory.cells[i]);
    }
  };
  Object& object = *mapping.handle->object;
  if (!object.multicast) {
    add(object, offset, offset + size);
    return out;
  }
  for (const Object::Binding& binding : object.bindings) {
    const ObjectPtr memory = binding.memory.lock();
    const std::size_t from = std::max(offset, binding.offset);
    const std::size_t to = std::min(offset + size, binding.offset + binding.size);
    if (!memory || from >= to) continue;
    const std::size_t shift = binding.memory_offset;
    add(*memory, from - binding.offset + shift, to - binding.offset + shift);
  }
  return out;
}

void World::settle(std::uint64_t bits) {
  for (const ObjectPtr& object : objects()) {
    for (Cell& cell : object->cells) cell.users &= ~bits;
  }
}

std::uint64_t World::bits_of(int device) const {
  std::uint64_t bits = std::uint64_t{1} << device;
  for (const Stream& stream : streams) {
    if (stream.device == device) bits |= std::uint64_t{1} << stream.bit;
  }
  return bits;
}

void touch(const std::vector<Cell*>& cells, std::size_t bit) {
  const std::uint64_t mine = std::uint64_t{1} << bit;
  for (Cell* cell : cells) {
    if ((cell->users & ~mine) != 0) cell->value.reset();
    cell->users |= mine;
  }
}

void put(const std::vector<Cell*>& cells, std::size_t bit, std::optional<std::uint64_t> value) {
  const std::uint64_t mine = std::uint64_t{1} << bit;
  for (Cell* cell : cells) {
    const bool shared = (cell->users & ~mine) != 0;
    cell->value = shared ? std::nullopt : value;
    cell->users |= mine;
  }
}

}  // namespace symmcts::fuzz
