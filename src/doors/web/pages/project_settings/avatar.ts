/** The avatar of a project: shown, uploaded and removed. */
import { uploadedAvatarUrl } from '../../../../identity/avatars/avatar_urls.ts';
import { withAvatar } from '../../../../identity/avatars/store_avatar.ts';
import { invalid } from '../../../../platform/errors.ts';
import { object } from '../../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { updateProject } from '../../../../projects/projects/update.ts';
import { avatar } from '../../parts/avatar.ts';
import { form } from '../../parts/form.ts';
import { type FormProblems, noProblems } from '../../parts/form_problems.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { projectPagePath, projectPath } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { type SettingsContext, sectionCard } from './settings_section.ts';
import { avatarInput } from '../../parts/fields/avatar_input.ts';

const key = 'avatar';

/** Renders the avatar with its forms. */
export const avatarPart = ({ visit, project, tried }: SettingsContext): Html => {
  const problems = tried?.key === key ? tried.problems : noProblems;
  const action = `${projectPagePath(project, 'settings')}/${key}`;
  const picture = avatar({
    name: project.name,
    avatar_url: uploadedAvatarUrl(visit.call, 'project', project),
    size: 'large',
    isSquare: true,
  });
  const upload = form(visit, { action, submit: 'Upload', hasFiles: true, problems }, avatarInput(problems));
  const removal =
    project.avatar === null
      ? null
      : form(visit, { action: `${action}/delete`, submit: 'Remove avatar', danger: true, isQuiet: true });
  return sectionCard(
    { key, title: 'Avatar' },
    html`<div class="row">${picture}<div>${upload}${removal}</div></div>`,
  );
};

/** @param refuse shows the settings again with the problems */
export const avatarPages = (
  refuse: (visit: Visit, project: Project, problems: FormProblems) => Promise<View>,
): AnyPage[] => [
  formPage({
    path: `${projectRoot}/settings/${key}`,
    audience: 'user',
    address: projectPath,
    fields: {},
    find: async ({ call }, { project }) => await findProjectFor(call, project, 'admin_project'),
    fromSent: () => null,
    run: async (visit, project) => {
      const { call } = visit;
      const file = visit.file(key);
      if (file === null) throw invalid({ avatar: ["can't be blank"] });
      await withAvatar(call.platform, file, async (columns) => await updateProject(call, project, columns));
      return redirect(projectPagePath(project, 'settings'), 'The avatar was saved.');
    },
    view: async (visit, project, { problems }) => await refuse(visit, project, problems),
  }),
  page({
    method: 'POST',
    path: `${projectRoot}/settings/${key}/delete`,
    audience: 'user',
    params: object(projectPath),
    handle: async ({ call }, { project: fullPath }) => {
      const project = await findProjectFor(call, fullPath, 'admin_project');
      await updateProject(call, project, { avatar: null });
      return redirect(projectPagePath(project, 'settings'), 'The avatar was removed.');
    },
  }),
];
