#include "conformance/cases/groups.hpp"

namespace symmcts::cases {
namespace {

Deal completed(Deal deal, int ranks) {
  if (deal.domain == 0) deal.domain = ranks;
  if (deal.size == 0) deal.size = deal.domain / 2;
  return deal;
}

}  // namespace

std::vector<int> members_of(const Deal& deal, int ranks, int rank) {
  const Deal whole = completed(deal, ranks);
  const int groups = whole.domain / whole.size;
  const int first = rank / whole.domain * whole.domain + rank % whole.domain % groups;
  std::vector<int> members;
  for (int i = 0; i < whole.size; ++i) members.push_back(first + i * groups);
  return members;
}

std::string obstacle_to(const Deal& deal, int ranks) {
  const Deal whole = completed(deal, ranks);
  if (ranks % whole.domain != 0) {
    return std::to_string(ranks) + " ranks are no whole number of domains of " +
           std::to_string(whole.domain);
  }
  if (whole.size < 2 || whole.domain % whole.size != 0) {
    return "a domain of " + std::to_string(whole.domain) +
           " ranks cannot be dealt out in groups of " + std::to_string(whole.size);
  }
  return "";
}

}  // namespace symmcts::cases
