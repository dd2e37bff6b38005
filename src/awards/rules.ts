import { notFound } from '../errors.ts';

const names = /^[a-z0-9_+-]{1,255}$/;
const aliases = new Map([
  ['+1', 'thumbsup'],
  ['-1', 'thumbsdown'],
]);

/**
 * The name as it is stored: `+1` is `thumbsup`.
 * @throws Failure 404, as every refusal to award is
 */
export const checkAwardName = (name: string): string => {
  if (!names.test(name)) throw notFound('Award Emoji Name is not a valid emoji name');
  return aliases.get(name) ?? name;
};
