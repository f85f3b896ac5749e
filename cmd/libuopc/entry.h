// The C interface of libuopc.so, by which uoprun compiles a .uop in memory. Strings belong to the reply, which lives until
// uopc_release; code lives as long as the reply's `code`.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {

struct UopcRequest {
  const char* text;     // the program
  size_t textSize;
  const char* name;     // of its file, for messages
  const char* options;  // JSON: {"target": "cpu", "level": 2, "pipeline": FILE, "set": [...], "color": false,
                        //        "cache": DIR, "no-cache": false, "cache-size": BYTES}
};

struct UopcReply {
  int status;             // an exit status of the contract; 0: the rest is there
  const char* messages;   // to be shown as they are; "" without
  const char* manifest;   // JSON without files
  const char* program;    // canonical text
  void* code;
  void* owner;
};

typedef int (*UopcCompileFn)(const struct UopcRequest*, struct UopcReply*);
typedef void* (*UopcLookupFn)(void* code, const char* symbol);  // null where there is none
typedef void (*UopcReleaseFn)(struct UopcReply*);               // of the code too

int uopc_compile(const struct UopcRequest*, struct UopcReply*);
void* uopc_lookup(void* code, const char* symbol);
void uopc_release(struct UopcReply*);

}
