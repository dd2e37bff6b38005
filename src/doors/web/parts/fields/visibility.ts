/** Renders the choice of the visibility of a project or group. */
import type { Visibility } from '../../../../platform/db/schema/column_types.ts';
import { radios } from '../form.ts';
import type { FormProblems } from '../form_problems.ts';
import type { Html } from '../html.ts';

type Words = { label: string; meaning: string };

const visibilityWords: { [V in Visibility]: Words } = {
  private: { label: 'Private', meaning: 'Only members.' },
  internal: { label: 'Internal', meaning: 'All signed-in users except external users.' },
  public: { label: 'Public', meaning: 'Everyone, without signing in.' },
};

/** Values and labels. */
export const visibilityOptions = Object.entries(visibilityWords).map(
  ([visibility, { label }]) => [visibility, label] as const,
);

type VisibilityChoiceOptions = {
  value: string;
  /** Returns why a visibility cannot be chosen; null if it can. */
  limit: (visibility: Visibility) => string | null;
  /** Says who sees a private record. Default: only its members. */
  privateMeaning?: string;
  problems: FormProblems;
};

/** Moves the problem of `visibility_level`, as the API names it, to the field of the visibility. */
export const toVisibilityProblem = ({ text, fields }: FormProblems): FormProblems => {
  const { visibility_level, ...others } = fields;
  if (visibility_level === undefined) return { text, fields };
  return { text, fields: { ...others, visibility: visibility_level } };
};

export const visibilityChoice = ({ value, limit, problems, privateMeaning }: VisibilityChoiceOptions): Html =>
  radios({
    name: 'visibility',
    label: 'Visibility',
    value,
    problems,
    boxes: (Object.keys(visibilityWords) as Visibility[]).map((visibility) => {
      const { label, meaning } = visibilityWords[visibility];
      const reason = visibility === value ? null : limit(visibility);
      const who = visibility === 'private' ? (privateMeaning ?? meaning) : meaning;
      const hint = reason === null ? who : `${who} ${reason}`;
      return { value: visibility, label, hint, isDisabled: reason !== null };
    }),
  });
