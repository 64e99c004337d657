// Everything of tile.hpp on one device. argv: a package of scale.tile.
#include <cstdio>
#include <cstring>
#include <tile/tile.hpp>

#define REQUIRE(condition) \
  do { if (!(condition)) { std::printf("line %d: %s\n", __LINE__, #condition); return 1; } } while (0)

static const char source[] =
    "@kernel\ndef add(x: *fp32, out: *fp32, n: i32, B: constexpr = 64):\n    i = program_id(0) * B + arange(0, B)\n"
    "    store(out + i, load(x + i, i < n) + 1, i < n)\n";
static const char tuned[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.autotune([triton.Config({'B': 32}), triton.Config({'B': 64})], key=['n'])\n"
    "@triton.jit\ndef add(x, out, n, B: tl.constexpr):\n    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(out + i, tl.load(x + i, i < n) + 1, i < n)\n";

// A buffer that is moved out of a function, into a vector, and assigned.
static tile::Buffer<float> made(const tile::Device &device, float value) {
  tile::Buffer<float> b(device, 64);
  b.fill(value);
  return b;
}

static int memory(const tile::Device &device) {
  std::vector<tile::Buffer<float>> all;
  for (int i = 0; i < 3; i++) all.push_back(made(device, static_cast<float>(i)));
  tile::Buffer<float> last = std::move(all[2]);
  last = made(device, 7);
  REQUIRE(last.download()[63] == 7.0f && last.size() == 64 && last.bytes() == 256);
  last.copy_from(all[1]);
  REQUIRE(last.download()[0] == 1.0f);
  const tile::Buffer<std::uint8_t> bytes(device, std::vector<std::uint8_t>{1, 2, 3});
  REQUIRE(bytes.download()[2] == 3);
  tile::Stream stream(device), other(device);
  other = std::move(stream);
  tile::Event start(device), end(device);
  tile::HostBuffer<float> host(device, 64);
  for (float &x : host) x = 5;
  start.record(other.get());
  last.upload(host.data(), other);
  last.fill(6, other);
  all[0].copy_from(last, other);
  all[0].download(host.data(), other);
  end.record(other.get());
  tile::Stream third(device);
  third.wait(end);
  other.synchronize();
  end.synchronize();
  REQUIRE(other.done() && end.done() && end.ms_since(start) >= 0);
  REQUIRE(host[9] == 6.0f && host.size() == 64);
  return 0;
}

static int programs(const tile::Device &device) {
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  const tile::Program program("add.tile", source, &o);
  REQUIRE(program.kernels() == std::vector<std::string>{"add"});
  REQUIRE(program.output(TILE_EMIT_PTX).find(".entry add(") != std::string::npos);
  REQUIRE(program.output(TILE_EMIT_LLVM).empty() && program.diagnostics().empty());
  REQUIRE(program.resources().threads == 128);
  tile::Kernel kernel(device, program);
  tile::Buffer<float> x = made(device, 1), out(device, 64);
  kernel.launch({1, 1, 1}, x, out, 64);
  device.synchronize();
  REQUIRE(out.download()[63] == 2.0f);
  REQUIRE(kernel.params().size() == 3 && kernel.name() == "add" && !std::strcmp(kernel.params()[2].name, "n"));
  if (device.kind() == "sim") {
    kernel = tile::Kernel::from_ptx(device, program.output(TILE_EMIT_PTX));
    kernel.launch_on(tile::Stream(device).get(), 1, out, out, 64);
    REQUIRE(out.download()[0] == 3.0f && kernel.resources().threads == 128);
  }
  return 0;
}

static int errors() {
  try {
    const tile::Program wrong("wrong.tile", "@kernel\ndef k(x: *fp32):\n    store(x, y)\n");
  } catch (const tile::Error &e) {
    REQUIRE(e.status == TILE_ERROR_PROGRAM && !std::strcmp(e.status_name(), "TILE_ERROR_PROGRAM"));
    REQUIRE(!e.diagnostics.empty() && e.diagnostics[0].line == 3 && e.diagnostics[0].column == 14);
    REQUIRE(e.diagnostics[0].file == "wrong.tile" && e.diagnostics[0].note_of == -1);
    return 0;
  }
  return 1;
}

static int packages(const tile::Device &device, const char *path) {
  const tile::Package package(path);
  REQUIRE(!package.entries().empty() && !std::strcmp(package.entries()[0].kernel, "scale"));
  const tile::Family family(device, package);
  tile::Buffer<float> x = made(device, 2), out(device, 64);
  family.launch({8, 1, 1}, x, out, 64, 1.5f);
  device.synchronize();
  REQUIRE(out.download()[63] == 3.0f && family.name() == "scale");
  return 0;
}

static int jits(const tile::Device &device) {
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.no_cache = true;
  o.tune = TILE_TUNE_ON;
  tile::Jit jit(device, "tuned.py", tuned, &o);
  const tile::JitKernel add = jit.kernel();
  tile::Buffer<float> x = made(device, 1), out(device, 64);
  const tile::Tuning tuning = add.tune({2, 1, 1}, x, out, 64);
  REQUIRE(tuning.candidates().size() == 2 && tuning.candidates()[0].config);
  const tile::Variant variant = add.prepare({2, 1, 1}, x, out, 64, 32);
  REQUIRE(variant.constexpr_value("B") == "32" && variant.params().size() == 3);
  REQUIRE(variant.output(TILE_EMIT_PTX).find(".entry add(") != std::string::npos);
  REQUIRE(variant.resources().threads == 128);
  add.launch({2, 1, 1}, x, out, 64, 32);
  add.launch_on(nullptr, {2, 1, 1}, out, out, 64, 32);
  device.synchronize();
  REQUIRE(out.download()[63] == 3.0f && jit.kernels() == std::vector<std::string>{"add"});
  return 0;
}

int main(int, char **argv) try {
  const tile::Device device;
  if (memory(device) || programs(device) || errors() || jits(device)) return 1;
  REQUIRE(tile::Device::count(device.kind().c_str()) == 1);
  if (device.kind() == "sim" && packages(device, argv[1])) return 1;
  std::printf("%s: %s, %u SMs\n", device.kind().c_str(), device.name().c_str(), device.properties().num_sms);
  return 0;
} catch (const tile::Error &e) {
  std::printf("%s: %s\n", e.status_name(), e.what());
  return 1;
}
