/** Recognizes pictures by their content: names and content types of senders are not trusted. */

/** Content types by the extension that an avatar is stored under. SVG is not among them: it can run scripts. */
const types = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  ico: 'image/vnd.microsoft.icon',
} as const;

export type PictureExtension = keyof typeof types;

/** First bytes of each type; null: any byte. */
const signatures: [PictureExtension, (number | null)[]][] = [
  ['png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['jpg', [0xff, 0xd8, 0xff]],
  ['gif', [0x47, 0x49, 0x46, 0x38, 0x37, 0x61]],
  ['gif', [0x47, 0x49, 0x46, 0x38, 0x39, 0x61]],
  ['webp', [0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50]],
  ['ico', [0x00, 0x00, 0x01, 0x00]],
];

/** Returns the extension of a picture; null if browsers could run code in it, or do not show it. */
export const readPictureExtension = (content: Buffer): PictureExtension | null =>
  signatures.find(
    ([, bytes]) =>
      content.length > bytes.length && bytes.every((byte, at) => byte === null || content[at] === byte),
  )?.[0] ?? null;

/** Returns the content type of an avatar by the name that it is stored under. */
export const getPictureType = (name: string): string =>
  types[name.slice(name.lastIndexOf('.') + 1) as PictureExtension] ?? 'application/octet-stream';
