/** Parts of the forms that create projects: in which namespace, and how visible. */
import { type Call, requireUser } from '../../../../core/access/call.ts';
import { findVisibilityProblem } from '../../../../core/settings/setting_effects.ts';
import { isWider, visibilities } from '../../../../identity/groups/rules.ts';
import type { Visibility } from '../../../../platform/db/schema/column_types.ts';
import { Failure, refused } from '../../../../platform/errors.ts';
import { listCreationNamespaces } from '../../../../projects/projects/lists/creation_namespaces.ts';
import { select } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import type { Html } from '../../parts/html.ts';
import { visibilityChoice } from '../../parts/fields/visibility.ts';

type Chosen = { chosen: string; problems: FormProblems };

/** Maximum namespaces to choose from; an administrator may name any other by `?namespace_id=`. */
const maxNamespaces = 500;

/** Renders the choice of a namespace. @param chosen id; empty: the user's own namespace */
export const namespaceSelect = async (call: Call, { chosen, problems }: Chosen): Promise<Html> => {
  const user = requireUser(call);
  const namespaces = await listCreationNamespaces(call, maxNamespaces);
  const options = [
    ['', `${user.username} (you)`] as const,
    ...namespaces
      .filter(({ owner_id }) => owner_id !== user.id)
      .map(({ id, full_path }) => [String(id), full_path.replaceAll('/', ' / ')] as const),
  ];
  const isListed = options.some(([id]) => id === chosen);
  return select({
    name: 'namespace_id',
    label: 'Group or user',
    value: chosen,
    options: isListed ? options : [...options, [chosen, `Namespace ${chosen}`]],
    problems,
  });
};

/** Renders the choice of a visibility. @param widest higher visibilities cannot be chosen */
export const visibilityField = (
  call: Call,
  { chosen, widest = 'public', problems }: { chosen: string; widest?: Visibility; problems: FormProblems },
): Html =>
  visibilityChoice({
    value: chosen,
    limit: (visibility) =>
      findVisibilityProblem(call, visibility) ??
      (isWider(visibility, widest) ? `The original project is ${widest}.` : null),
    problems: {
      ...problems,
      fields: { visibility: problems.fields['visibility_level'] ?? [], ...problems.fields },
    },
  });

/** Returns the visibility of new projects, or the narrowest that the settings allow the caller. */
export const usualVisibility = (call: Call): Visibility => {
  const allowed = visibilities.filter((visibility) => findVisibilityProblem(call, visibility) === null);
  const { default_project_visibility: usual } = call.settings;
  return allowed.find((one) => one === usual) ?? allowed[0] ?? 'private';
};

/**
 * Runs an operation that creates a project; the quota of personal projects is a problem of the form, too.
 * @throws Failure 400 for it
 */
export const withQuotaProblem = async <T>(operation: () => Promise<T>): Promise<T> => {
  try {
    return await operation();
  } catch (error) {
    const { message } = ((error instanceof Failure && error.body) || {}) as { message?: unknown };
    throw Array.isArray(message) ? refused(message.join('. ')) : error;
  }
};
