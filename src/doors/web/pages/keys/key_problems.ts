/** Assigns the problems of SSH keys to the fields of their forms. */
import type { Problems } from '../../../../platform/errors.ts';
import type { FormProblems } from '../../parts/form_problems.ts';

/** Extends a short problem of the API with a remedy. */
const explain = (problem: string): string =>
  problem === 'is invalid'
    ? 'is invalid: paste the whole line of a file that ends in .pub, beginning with the type, such as ssh-ed25519, and never the private key'
    : problem;

const expired = 'has expired';

/** Assigns problems to fields of the form: a fingerprint belongs to the key. */
export const assignKeyProblems = ({
  text,
  fields: { fingerprint, key, ...rest },
}: FormProblems): FormProblems => {
  const taken = fingerprint === undefined ? [] : ['has already been added, by this user or by another'];
  const isPast = key?.includes(expired) === true;
  const keyProblems = [...(key ?? []).filter((problem) => problem !== expired).map(explain), ...taken];
  const fields: Problems = {
    ...rest,
    ...(keyProblems.length > 0 && { key: keyProblems }),
    ...(isPast && { expires_at: ['must be in the future'] }),
  };
  return { text, fields };
};
