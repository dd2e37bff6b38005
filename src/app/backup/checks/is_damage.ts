import { StartFailure } from '../../../platform/errors.ts';

/**
 * Returns whether an error that reading an object ended with says that its bytes are wrong or missing. Others, such as a
 * connection that broke off or a missing permission, say nothing of the object.
 */
export const isDamage = (error: unknown): boolean => {
  if (error instanceof StartFailure || error instanceof SyntaxError) return true;
  const code = String((error as { code?: unknown }).code);
  // Of the decompression, and of a disk that cannot read a block.
  return code === 'EIO' || /^Z(?:STD)?_/.test(code);
};
