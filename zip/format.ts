/** The zip format (APPNOTE 6.3): what the reader and the writer share. */

export const signatures = {
  local: 0x04034b50,
  central: 0x02014b50,
  descriptor: 0x08074b50,
  end: 0x06054b50,
  end64: 0x06064b50,
  locator64: 0x07064b50,
} as const;

/** Length of each record's fixed part in bytes, without name, extra fields and comment. */
export const lengths = { local: 30, central: 46, end: 22, end64: 56, locator64: 20 } as const;

export const methods = { store: 0, deflate: 8 } as const;

/** Bits of an entry's general purpose flags. */
export const flags = { encrypted: 1, descriptor: 8, strong: 0x40, utf8: 0x800, hidden: 0x2000 } as const;

/** A field with the greatest value refers to its 64-bit counterpart in the zip64 records. */
export const max16 = 0xffff;
export const max32 = 0xffffffff;

/** Id of the extra field that holds 64-bit values. */
export const extra64 = 1;

/** Bits of a Unix mode that hold the file type. */
export const kindMask = 0o170000;
export const modes = { file: 0o100000, directory: 0o040000, symlink: 0o120000 } as const;

/** Id of the system that wrote an entry, Unix: the upper half of the external attributes is then a Unix mode. */
export const unix = 3;

export type Kind = 'file' | 'directory' | 'symlink';

/** An archive that is damaged, hostile, unsupported or over a limit. */
export class ZipFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ZipFailure';
  }
}
