const plain = /^(?:The|This|That|It|No|There|An?|All|Its|Every|Some|Nothing) /

/** A sentence as the end of another: "The model is busy." → "the model is busy". Names keep their capital. */
export function clause(sentence: string): string {
  const s = sentence.trim().replace(/\.$/, '')
  return plain.test(s) ? s[0]!.toLowerCase() + s.slice(1) : s
}
