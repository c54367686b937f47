// Controls, and characters that change the direction or the look of the text
// around them without being seen: what a person approves must read as it is.
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|\udb40[\udc00-\udfff]/g

/** A piece of text; an escape stands for a character that cannot be seen. */
export interface Piece {
  text: string
  escape: boolean
}

/** Cuts text so that what cannot be seen can be shown as its number. */
export function visible(text: string): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (const m of text.matchAll(hidden)) {
    if (m.index > from) pieces.push({ text: text.slice(from, m.index), escape: false })
    pieces.push({
      text: `U+${m[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`,
      escape: true,
    })
    from = m.index + m[0].length
  }
  if (from < text.length) pieces.push({ text: text.slice(from), escape: false })
  return pieces
}

/** A result without the marks that tell a model which words came from outside. */
export function unfenced(text: string): string {
  return text
    .replace(/^<outside from="(?:[^"\\\n]|\\.)*">\n/gm, '')
    .replace(/\n<\/outside>/g, '')
    .replaceAll('<\u200b/outside', '</outside')
}
