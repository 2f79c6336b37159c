#include "harness/evidence/file_bytes.hpp"

#include <libdeflate.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include "harness/support/file_kind.hpp"

namespace symmcts::evidence {
namespace {

constexpr std::size_t kMaxInflated = std::size_t{4} << 30;

bool is_gzip(const std::string& bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

// Whole-buffer inflate: an order of magnitude faster than zlib, but all or nothing. False where the
// stream is damaged, cut off, has several members, or its size field lies.
bool inflate_whole(const std::string& in, std::string& out) {
  if (in.size() < 18) {
    return false;
  }
  std::uint32_t size = 0;  // ISIZE, RFC 1952: the inflated size modulo 2^32, little endian
  for (int i = 0; i < 4; ++i) {
    size |= static_cast<std::uint32_t>(static_cast<unsigned char>(in[in.size() - 4 + i])) << 8 * i;
  }
  // Deflate cannot shrink by more than 1032; a larger field is a damaged one.
  if (size == 0 || size / 1032 > in.size()) {
    return false;
  }
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> inflater(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!inflater) {
    return false;
  }
  out.resize(size);
  std::size_t used = 0;
  std::size_t made = 0;
  return libdeflate_gzip_decompress_ex(inflater.get(), in.data(), in.size(), out.data(), out.size(),
                                       &used, &made) == LIBDEFLATE_SUCCESS &&
         used == in.size() && made == out.size();
}

// Inflates as far as the stream goes, over all its members. False: more than kMaxInflated.
bool inflate_stream(const std::string& in, FileBytes& out) {
  z_stream stream{};
  out.bytes.clear();
  out.cut_off = true;
  if (inflateInit2(&stream, 15 + 16) != Z_OK) {
    return true;
  }
  std::string chunk(1 << 20, '\0');
  std::size_t fed = 0;
  bool fits = true;
  while (true) {
    if (stream.avail_in == 0 && fed < in.size()) {
      const std::size_t part = std::min<std::size_t>(in.size() - fed, std::size_t{1} << 28);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data() + fed));
      stream.avail_in = static_cast<uInt>(part);
      fed += part;
    }
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    const int code = inflate(&stream, Z_NO_FLUSH);
    const std::size_t made = chunk.size() - stream.avail_out;
    if (out.bytes.size() + made > kMaxInflated) {
      fits = false;
      break;
    }
    out.bytes.append(chunk, 0, made);
    if (code == Z_STREAM_END) {
      if (stream.avail_in == 0 && fed == in.size()) {
        out.cut_off = false;
        break;
      }
      if (inflateReset(&stream) != Z_OK) {
        break;
      }
    } else if (code != Z_OK || (made == 0 && stream.avail_in == 0 && fed == in.size())) {
      break;  // damaged, or no more input
    }
  }
  inflateEnd(&stream);
  return fits;
}

Result<std::string> read_raw(const std::string& path) {
  struct stat info {};
  // A pipe is read like a file (`check <(...)`); a device may never end.
  if (const std::string why = why_no_file(path);
      !why.empty() && !(stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode))) {
    return Error{path + ": " + why};
  }
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) {
    return Error{path + ": " + std::strerror(errno)};
  }
  std::string bytes;
  if (fstat(fileno(file.get()), &info) == 0 && info.st_size > 0) {
    bytes.reserve(static_cast<std::size_t>(info.st_size));
  }
  std::string chunk(1 << 20, '\0');
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
    bytes.append(chunk, 0, got);
  }
  if (std::ferror(file.get()) != 0) {
    return Error{path + ": " + std::strerror(errno)};
  }
  return bytes;
}

}  // namespace

Result<FileBytes> read_file(const std::string& path) {
  Result<std::string> raw = read_raw(path);
  if (!raw) {
    return Error{raw.error()};
  }
  FileBytes file;
  if (!is_gzip(raw.value())) {
    file.bytes = std::move(raw.value());
    if (file.bytes.empty()) {
      return Error{path + ": empty file"};
    }
    return file;
  }
  if (!inflate_whole(raw.value(), file.bytes) && !inflate_stream(raw.value(), file)) {
    return Error{path + ": inflates to more than 4 GiB"};
  }
  if (file.bytes.empty()) {
    return Error{path + ": a gzip file without data"};
  }
  return file;
}

}  // namespace symmcts::evidence
