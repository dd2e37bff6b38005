/** Forms that add a member and change a membership. */
import { requireUser } from '../../../../core/access/call.ts';
import type { UserRow } from '../../../../identity/users/queries.ts';
import type { ListedMember } from '../../../../projects/members/queries.ts';
import { form, input, radios, select } from '../../parts/form.ts';
import { type FormProblems, noProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { nameRole } from '../../parts/projects/role.ts';
import type { Visit } from '../../page.ts';
import type { MemberList } from './project_or_group_routes.ts';

/** A refused form: its member (null for the form that adds a member), its input and problems. */
export type Tried = {
  userId: number | null;
  sent: Readonly<Record<string, string>>;
  problems: FormProblems;
  /** Users that match the name that was typed. */
  candidates?: readonly UserRow[];
};

/** A refused form of a shared group: its group (null for the form that invites a group), its input and problems. */
export type TriedGroup = {
  groupId: number | null;
  sent: Readonly<Record<string, string>>;
  problems: FormProblems;
};

type Role = {
  id: string;
  level: string;
  expires: string;
  problems: FormProblems;
  name?: string;
  label?: string;
};

/**
 * Renders the fields of a role and its last day.
 * @param role with `id`, which makes the field ids unique among forms
 */
export const roleFields = (
  { kind, source }: MemberList,
  { id, level, expires, problems, name = 'access_level', label = 'Role' }: Role,
): Html => {
  const options = kind.roles
    .filter((one) => one <= source.level || String(one) === level)
    .map((one) => [String(one), nameRole(one)] as const);
  return html`<div class="field-row">${select({
    name,
    id: `access_level_${id}`,
    label,
    value: level,
    options,
    problems,
  })}${input({
    name: 'expires_at',
    id: `expires_at_${id}`,
    label: 'Access ends on (optional)',
    type: 'date',
    value: expires,
    problems,
  })}</div>`;
};

const candidateChoice = (candidates: readonly UserRow[]): Html | null =>
  candidates.length === 0
    ? null
    : radios({
        name: 'choice',
        label: 'Who do you mean?',
        value: null,
        boxes: candidates.map(({ username, name }) => ({
          value: username,
          label: `${name} (@${username})`,
        })),
      });

/** Renders the form that adds a member. */
export const addForm = (visit: Visit, list: MemberList, tried: Tried | null): Html => {
  const {
    sent,
    problems,
    candidates = [],
  } = tried?.userId === null ? tried : { sent: {} as Tried['sent'], problems: noProblems };
  return form(
    visit,
    { action: list.path, submit: 'Add member', problems },
    input({
      name: 'user',
      label: 'User',
      hint: 'User name, or part of a name to search for.',
      value: sent['user'] ?? '',
      autocomplete: 'off',
      required: true,
      problems,
    }),
    candidateChoice(candidates),
    roleFields(list, {
      id: 'new',
      level: sent['access_level'] ?? '30',
      expires: sent['expires_at'] ?? '',
      problems,
    }),
  );
};

/** Renders the forms that change and remove a direct member. */
export const memberForms = (
  visit: Visit,
  list: MemberList,
  member: ListedMember,
  tried: Tried | null,
): Html => {
  const { path, kind } = list;
  const refused = tried?.userId === member.id ? tried : null;
  const { sent = {}, problems = noProblems } = refused ?? {};
  const change = form(
    visit,
    { action: `${path}/${member.id}`, submit: 'Save', name: `Save ${member.name}`, problems },
    roleFields(list, {
      id: String(member.id),
      level: sent['access_level'] ?? String(member.access_level),
      expires: sent['expires_at'] ?? member.expires_at ?? '',
      problems,
    }),
  );
  const isSelf = member.id === requireUser(visit.call).id;
  const removal = form(visit, {
    action: `${path}/${member.id}/remove`,
    submit: isSelf ? `Leave the ${kind.noun}` : `Remove from the ${kind.noun}`,
    ...(!isSelf && { name: `Remove ${member.name} from the ${kind.noun}` }),
    danger: true,
  });
  return html`<details${refused !== null && html` open`}><summary>Edit<span class="visually-hidden"> ${member.name}</span></summary>
<div class="stack">${change}${removal}</div></details>`;
};
