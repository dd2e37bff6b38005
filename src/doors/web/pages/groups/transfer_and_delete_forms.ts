/** The forms that move or delete a group as a whole. */
import type { Group } from '../../../../identity/groups/find.ts';
import type { Visit } from '../../page.ts';
import { form, input } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { groupPagePath } from '../../parts/frame/group_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { sectionCard } from '../project_settings/settings_section.ts';

type Shown = { visit: Visit; group: Group; problems: FormProblems };

/** @param typed the refused input; null: nothing was sent */
export const transferPart = ({ visit, group, problems }: Shown, typed: string | null): Html => {
  const parentPath = group.full_path.split('/').slice(0, -1).join('/');
  const field = input({
    name: 'parent',
    label: 'New parent group',
    hint: 'Path of a group in which you may create subgroups. Default: the top level.',
    value: typed ?? parentPath,
    problems,
  });
  const action = `${groupPagePath(group, 'settings')}/transfer`;
  return sectionCard(
    { key: 'transfer', title: 'Transfer group', isDanger: true },
    html`<p>Moves the group with all its subgroups and projects.</p>
<ul class="bulleted"><li>Old URLs redirect to the new URLs.</li>
<li>Members of the old parent lose access; members of the new one gain it.</li>
<li>Visibility is reduced to the visibility of the new parent if that is lower.</li></ul>
${form(visit, { action, submit: 'Transfer group', danger: true, problems }, field)}`,
  );
};

export const deletePart = ({ visit, group, problems }: Shown): Html => {
  const field = input({
    name: 'confirm',
    label: `Type ${group.full_path} to confirm`,
    autocomplete: 'off',
    required: true,
    problems,
  });
  const action = `${groupPagePath(group, 'settings')}/delete`;
  return sectionCard(
    { key: 'delete', title: 'Delete group', isDanger: true },
    html`<p>Deletes the group with all its subgroups and projects, for everyone. <strong>This cannot be undone.</strong></p>
${form(visit, { action, submit: 'Delete group', danger: true, problems }, field)}`,
  );
};
