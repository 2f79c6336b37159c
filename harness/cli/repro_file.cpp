#include "harness/cli/repro_file.hpp"

#include <algorithm>
#include <limits>

#include "harness/cli/toml_document.hpp"

namespace symmcts::cli {
namespace {

constexpr std::int64_t kMany = std::numeric_limits<std::int32_t>::max();

std::vector<int> read_ranks(TomlTable& table, const char* key, const Repro& repro) {
  std::vector<int> ranks;
  for (const std::int64_t rank : table.numbers(key)) {
    ranks.push_back(static_cast<int>(rank));
    if (rank < 0 || rank >= repro.ranks) table.reject(key, "names a rank that is not there");
  }
  return ranks;
}

std::map<std::string, std::int64_t> read_kinds(TomlTable& table) {
  std::map<std::string, std::int64_t> kinds;
  for (const std::string& kind : table.keys()) kinds[kind] = table.number(kind.c_str(), 1, kMany);
  return kinds;
}

// Reads what is there of one half over what `half` holds already.
void read_half(TomlTable table, const Repro& repro, bool whole, Published& half) {
  if (whole || table.has("implementation")) half.implementation = table.text("implementation");
  if (whole || table.has("failed")) half.failed = table.texts("failed");
  std::sort(half.failed.begin(), half.failed.end());
  for (const std::string& id : half.failed) {
    if (std::find(repro.requirements.begin(), repro.requirements.end(), id) ==
        repro.requirements.end()) {
      table.reject("failed", "names " + id + ", which is not in `requirements`");
    }
  }
  if (table.has("named")) half.named = {{"", read_ranks(table, "named", repro)}};
  if (table.has("named_by")) {
    TomlTable named = table.table("named_by");
    for (const std::string& id : named.keys()) {
      half.named[id] = read_ranks(named, id.c_str(), repro);
      if (std::find(half.failed.begin(), half.failed.end(), id) == half.failed.end()) {
        named.reject(id.c_str(), "is not among those that fail");
      }
    }
    named.close();
  }
  if (table.has("copies")) {
    half.copies.emplace();
    for (TomlTable& rank : table.tables("copies")) half.copies->push_back(read_kinds(rank));
    if (half.copies->size() != static_cast<std::size_t>(repro.ranks)) {
      table.reject("copies", "must hold one table a rank");
    }
  }
  if (table.has("most_copies")) {
    TomlTable most = table.table("most_copies");
    half.copies.emplace(static_cast<std::size_t>(repro.ranks), read_kinds(most));
    most.close();
    for (TomlTable& odd : table.tables("odd")) {
      TomlTable copies = odd.table("copies");
      const std::map<std::string, std::int64_t> kinds = read_kinds(copies);
      copies.close();
      for (const int rank : read_ranks(odd, "ranks", repro)) {
        if (rank >= 0 && rank < repro.ranks) (*half.copies)[static_cast<std::size_t>(rank)] = kinds;
      }
      odd.close();
    }
  }
  if (table.has("hang")) half.hang = table.flag("hang");
  table.close();
}

}  // namespace

const ReproVariant* Repro::find(int root_ordinal, bool one_visible_gpu) const {
  const auto at = std::find_if(variants.begin(), variants.end(), [&](const ReproVariant& variant) {
    return variant.root_ordinal == root_ordinal && variant.one_visible_gpu == one_visible_gpu;
  });
  return at == variants.end() ? nullptr : &*at;
}

Result<Repro> parse_repro(std::string_view text, const std::string& origin) {
  TomlDocument document(text, origin);
  TomlTable top(document);
  Repro repro;
  if (!document.failed()) top.expect_schema("symm-cts/repro/1");
  repro.id = top.text("id");
  repro.title = top.text("title");
  repro.source = top.text("source");
  repro.platform = top.text("platform");
  repro.ranks = static_cast<int>(top.number("ranks", 1, 1024));
  repro.unit = top.text("unit");
  if (top.has("scenario")) repro.scenario = top.text("scenario");
  repro.requirements = top.texts("requirements");
  if (top.has("groups")) {
    TomlTable groups = top.table("groups");
    const auto domain = groups.number("domain", 2, repro.ranks);
    const auto size = groups.number("size", 2, domain);
    if (size > 0 && domain % size != 0) groups.reject("size", "must divide the domain");
    groups.close();
    repro.rank_args = {"--group-domain", std::to_string(domain), "--group-size",
                       std::to_string(size)};
  }

  ReproVariant& base = repro.variants.emplace_back();
  read_half(top.table("before"), repro, true, base.before);
  read_half(top.table("after"), repro, true, base.after);
  for (TomlTable& table : top.tables("variant")) {
    ReproVariant variant = repro.variants.front();
    if (table.has("root_ordinal")) {
      variant.root_ordinal = static_cast<int>(table.number("root_ordinal", 0, kMany));
    }
    if (table.has("one_visible_gpu")) variant.one_visible_gpu = table.flag("one_visible_gpu");
    if (repro.find(variant.root_ordinal, variant.one_visible_gpu) != nullptr) {
      table.reject("root_ordinal", "and `one_visible_gpu` are those of another variant");
    }
    if (table.has("before")) read_half(table.table("before"), repro, false, variant.before);
    if (table.has("after")) read_half(table.table("after"), repro, false, variant.after);
    table.close();
    repro.variants.push_back(std::move(variant));
  }
  top.close();
  if (document.failed()) return Error{document.error()};
  return repro;
}

}  // namespace symmcts::cli
