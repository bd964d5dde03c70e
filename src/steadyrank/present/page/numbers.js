"use strict";
/* Codes and numbers stand in the page as bytes, in base64. */
function decoded({ codes, bytes }) {
  const raw = Uint8Array.from(atob(codes), (letter) => letter.charCodeAt(0));
  return new { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[bytes](raw.buffer);
}

/* Row after row, as whole numbers of the last decimal; null where there is none. */
function unpacked({ digits, least, values, ...packed }) {
  if (values) return values.map((value) => (value === null ? null : value * 10 ** digits));
  return Array.from(decoded(packed), (code) => (code ? code - 1 + least : null));
}
