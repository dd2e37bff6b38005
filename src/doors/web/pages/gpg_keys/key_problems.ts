import type { FormProblems } from '../../parts/form_problems.ts';

/** Assigns the problems of a GPG key to the field of its form: a fingerprint belongs to the key. */
export const assignGpgKeyProblems = ({
  text,
  fields: { fingerprint, ...fields },
}: FormProblems): FormProblems =>
  fingerprint === undefined
    ? { text, fields }
    : { text, fields: { ...fields, key: ['has already been added, by this user or by another'] } };
