/* Randomised response: the truth with probability 3/4. */
#include <stdint.h>

__attribute__((import_module("env"), import_name("rnd8"))) uint32_t rnd8(void);

__attribute__((export_name("response"))) int32_t response(int32_t truth) {
    return rnd8() < 192 ? truth : 1 - truth;
}
