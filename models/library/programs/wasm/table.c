/* Geometric noise from a table of thresholds, with a sign: the whole table is read whatever was drawn. */
#include <stdint.h>

__attribute__((import_module("env"), import_name("rnd64"))) uint64_t rnd64(void);
__attribute__((import_module("env"), import_name("rnd1"))) uint32_t rnd1(void);

static const uint64_t THRESHOLDS[8] = {
    0x8000000000000000, 0xc000000000000000, 0xe000000000000000, 0xf000000000000000,
    0xf800000000000000, 0xfc00000000000000, 0xfe00000000000000, 0xff00000000000000,
};

static int32_t with_sign(int32_t size) {
    int32_t mask = -(int32_t)rnd1();
    return (size ^ mask) - mask;
}

__attribute__((export_name("whole"))) int32_t whole(int32_t value) {
    uint64_t drawn = rnd64();
    int32_t size = 0;
    for (int k = 0; k < 8; k++) {
        size += drawn >= THRESHOLDS[k];
    }
    return value + with_sign(size);
}

__attribute__((export_name("early"))) int32_t early(int32_t value) {
    uint64_t drawn = rnd64();
    int32_t size = 0;
    while (size < 8 && drawn >= THRESHOLDS[size]) {
        size++;
    }
    return value + with_sign(size);
}

/* The sum of several draws from the table: what a histogram releases after as many rounds. */
__attribute__((export_name("sum"))) int32_t sum(int32_t value, int32_t rounds) {
    while (rounds-- > 0) {
        value = whole(value);
    }
    return value;
}
