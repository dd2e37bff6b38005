/** Groups as lists show them. */
import type { GroupJson } from '../../../../identity/groups/json.ts';
import type { GroupContents } from '../../../../projects/projects/lists/group_contents.ts';
import { avatar } from '../../parts/avatar.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import { type Html, html } from '../../parts/html.ts';
import { relative } from '../../parts/timestamp.ts';
import { visibilityMark } from '../../parts/projects/project_list.ts';

type Contents = ReadonlyMap<number, GroupContents>;

/** Renders a path with its last part emphasized. */
const pathParts = (fullPath: string): Html => {
  const at = fullPath.lastIndexOf('/');
  const above = fullPath.slice(0, Math.max(at, 0)).replaceAll('/', ' / ');
  return html`${above !== '' && html`<span class="muted">${above} /</span> `}${fullPath.slice(at + 1)}`;
};

const counts = ({ subgroups, projects }: GroupContents): Html =>
  html`<span class="side">${subgroups > 0 && html`<span>${spellCount(subgroups, 'subgroup')}</span>`}<span>${spellCount(projects, 'project')}</span></span>`;

const item = (group: GroupJson, contents: GroupContents): Html => {
  const { full_path, name, avatar_url, description, visibility } = group;
  const { last_activity_at: active } = contents;
  return html`<li><span class="lead">${avatar({ name, avatar_url, size: 'medium', isSquare: true })}</span>
<span class="row tight"><a class="title" href="/groups/${full_path}">${pathParts(full_path)}</a>${visibilityMark(visibility)}<span class="badge">Group</span></span>
<span class="meta">${description !== '' && html`<span class="clamp">${description}</span>`}${active !== null && html`<span>Updated ${relative(active)}</span>`}</span>
${counts(contents)}</li>
`;
};

const none: GroupContents = { subgroups: 0, projects: 0, last_activity_at: null };

export const groupList = (groups: readonly GroupJson[], contents: Contents): Html =>
  html`<ul class="list">${groups.map((group) => item(group, contents.get(group.id) ?? none))}</ul>`;

/** `3 subgroups, 12 projects` */
export const spellContents = ({ subgroups, projects }: { subgroups: number; projects: number }): string =>
  [subgroups > 0 && spellCount(subgroups, 'subgroup'), spellCount(projects, 'project')]
    .filter((part) => part !== false)
    .join(', ');
