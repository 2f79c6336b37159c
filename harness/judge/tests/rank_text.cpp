#include "harness/judge/tests/rank_text.hpp"

#include <algorithm>

#include "harness/support/seal.hpp"

namespace symmcts::judge {

using evidence::Ns;

namespace {

constexpr char kCopyLine[] = R"({"type":"copy")";

std::string n(std::int64_t number) { return std::to_string(number); }

}  // namespace

RankText::RankText(int rank, int world, int host, const std::string& clock) : rank_(rank) {
  line(R"({"type":"header","schema":"symm-cts/evidence/1","rank":)" + n(rank) + R"(,"world":)" +
       n(world) + R"(,"host":)" + n(host) + R"(,"driver":"software","clock":")" + clock + "\"}");
}

RankText& RankText::line(const std::string& json) {
  text_ += json + "\n";
  return *this;
}

RankText& RankText::call(const std::string& name, Ns t0, const std::string& args, Ns took,
                         int result) {
  const int seq = next_++;
  return line(R"({"type":"call","seq":)" + n(seq) + R"(,"t0":)" + n(t0) + R"(,"t1":)" +
              n(t0 + took) + R"(,"name":")" + name + R"(","result":)" + n(result) + R"(,"corr":)" +
              n(seq) + R"(,"args":{)" + args + "}}");
}

RankText& RankText::enter(const std::string& name, Ns t) {
  return line(R"({"type":"enter","seq":)" + n(next_++) + R"(,"t":)" + n(t) + R"(,"name":")" + name +
              "\"}");
}

RankText& RankText::mark(const std::string& what, Ns t, const std::string& more) {
  return line(R"({"type":"mark","t":)" + n(t) + R"(,"what":")" + what + "\"" +
              (more.empty() ? "" : "," + more) + "}");
}

RankText& RankText::copy(const std::string& kind, Ns submitted, Ns start, Ns end, int stream,
                         std::int64_t bytes, const std::string& dst, int device,
                         const std::string& src_kind) {
  const int corr = next_;
  call("cuMemcpyAsync", submitted,
       R"("dst":)" + dst + R"(,"src":{},"bytes":)" + n(bytes) + R"(,"stream":)" + n(stream));
  const std::string host = "\"" + src_kind + "\"";
  return line(R"({"type":"copy","corr":)" + n(corr) + R"(,"kind":")" + kind + R"(","bytes":)" +
              n(bytes) + R"(,"start":)" + n(start) + R"(,"end":)" + n(end) + R"(,"device":)" +
              n(device) + R"(,"stream":)" + n(stream + 12) + R"(,"src_kind":)" +
              (kind == "HtoD" ? host : "\"device\"") + R"(,"dst_kind":)" +
              (kind == "DtoH" ? host : "\"device\"") + "}");
}

RankText& RankText::cut() {
  cut_ = true;
  return *this;
}

evidence::RankEvidence RankText::read() const {
  const auto lines = [this](const std::string& type) {
    std::int64_t count = 0;
    const std::string begin = "\n{\"type\":\"" + type + "\"";
    for (auto at = text_.find(begin); at != std::string::npos; at = text_.find(begin, at + 1)) {
      ++count;
    }
    return n(count);
  };
  std::string text = text_;
  if (!cut_) {
    // A call that was entered and never came back has a number, but no line.
    Digest digest;
    digest.add(text);
    text += sealed(digest, R"({"type":"footer","seq":)" + n(next_ - 1) + R"(,"enters":)" +
                               lines("enter") + R"(,"calls":)" + lines("call") + R"(,"copies":)" +
                               lines("copy") + R"(,"fills":)" + lines("fill") + R"(,"marks":)" +
                               lines("mark") + R"(,"deterministic":true})") +
            "\n";
  }
  Result<evidence::RankEvidence> rank =
      evidence::read_rank_lines("rank-" + n(rank_) + ".jsonl", text);
  EXPECT_TRUE(rank) << rank.error();
  return rank ? std::move(rank.value()) : evidence::RankEvidence{};
}

evidence::EvidenceSet set_of(const std::vector<RankText>& ranks, const std::string& machine) {
  evidence::EvidenceSet set;
  for (const RankText& rank : ranks) {
    set.ranks.push_back(rank.read());
    set.world = std::max(set.world, set.ranks.back().header.world);
  }
  if (machine.empty()) {
    return set;
  }
  const std::size_t last = machine.rfind('\n', machine.size() - 2) + 1;  // npos + 1 is 0
  Digest digest;
  digest.add(machine.substr(0, last));
  const Result<evidence::MachineEvidence> lines = evidence::read_machine_lines(
      "machine.jsonl", machine.substr(0, last) +
                           sealed(digest, machine.substr(last, machine.size() - 1 - last)) + "\n");
  EXPECT_TRUE(lines) << lines.error();
  set.machine = lines.value();
  return set;
}

Verdict verdict_of(const Judgement& judgement, const std::string& id) {
  const auto at = std::find_if(judgement.verdicts.begin(), judgement.verdicts.end(),
                               [&](const Verdict& verdict) { return verdict.id == id; });
  EXPECT_NE(at, judgement.verdicts.end()) << "no verdict of " << id;
  return at == judgement.verdicts.end() ? Verdict{} : *at;
}

std::string text_of(const Verdict& verdict) {
  std::string ranks;
  for (const int rank : verdict.ranks) {
    ranks += (ranks.empty() ? "" : ",") + n(rank);
  }
  return std::string(name(verdict.status)) + " [" + ranks + "]: " + verdict.reason;
}

RankText& rendezvous(RankText& rank, bool root, const Rendezvous& how) {
  const std::string token =
      how.route == "fabric" ? R"("token":"00112233445566aa")" : R"("token":null)";
  const std::string route = R"("route":")" + how.route + R"(",)" + token;
  rank.call("cuMemCreate", 100, R"("handle":1,"bytes":2097152,"device":0,"types":8)");
  if (root) {
    rank.call("cuMulticastCreate", 500, R"("handle":2,"bytes":2097152,"devices":2,"types":8)");
    rank.call("cuMemExportToShareableHandle", 1000, R"("handle":2,)" + route);
  }
  int handle = 2;
  if (!root || how.self_import) {
    handle = root ? 3 : 2;
    rank.call("cuMemImportFromShareableHandle", how.import_at,
              R"("handle":)" + n(handle) + "," + route);
  }
  const std::string name = R"("handle":)" + n(handle);
  if (root && how.release_at != 0 && how.release_at < 3000) {
    rank.call("cuMemRelease", how.release_at, R"("handle":2)");
  }
  rank.call("cuMulticastAddDevice", 3000, name + R"(,"device":0)");
  rank.call("cuMulticastBindMem", 4000,
            name + R"(,"mc_offset":0,"mem_handle":1,"mem_offset":0,"bytes":2097152)");
  rank.call("cuMemMap", 5000, R"("mapping":1,"range":1,"offset":0,"bytes":2097152,)" + name);
  if (root && how.release_at >= 3000) {
    rank.call("cuMemRelease", how.release_at, R"("handle":2)");
  }
  return rank;
}

}  // namespace symmcts::judge
