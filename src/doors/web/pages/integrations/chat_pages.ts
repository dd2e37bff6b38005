/** Pages of the integrations of a project with chats, with the operations of the API. */
import { deleteChat, setChat } from '../../../../outgoing/integrations/chat_hooks.ts';
import { type ChatSlug, chatSlugs, chats } from '../../../../outgoing/integrations/chats.ts';
import { type HookRow, loadIntegrationHook } from '../../../../outgoing/hooks/queries.ts';
import { boolean, object, optional, text } from '../../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { isTicked } from '../../parts/fields/field_text.ts';
import { formPage, unsent } from '../../parts/fields/form_page.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { projectPath } from '../../parts/frame/project_layout.ts';
import { type AnyPage, type Visit, page, redirect } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { chatView, offeredFlags, toChatValues } from './chat_form.ts';
import { integrationsPath } from './form.ts';

const fields = {
  webhook: optional(text({ maxLength: 2_048 })),
  ...Object.fromEntries(offeredFlags.map((name) => [name, boolean({ default: false })])),
};

type Connected = { project: Project; hook: HookRow | undefined };

const find = async ({ call }: Visit, fullPath: string, slug: ChatSlug): Promise<Connected> => {
  const project = await findProjectFor(call, fullPath, 'admin_integration');
  return { project, hook: await loadIntegrationHook(call.db, { type: 'project', id: project.id }, slug) };
};

/** The API names a missing address in its message, and an invalid one as that of a hook. */
const toField = ({ text: said, fields: { url, ...others } }: FormProblems): FormProblems => {
  const isMissing = said?.endsWith('"webhook" not given') === true;
  const webhook = isMissing ? ["can't be blank"] : url;
  const placed = { text: isMissing ? null : said, fields: { ...others, ...(webhook && { webhook }) } };
  return moveUnknownToText(placed, ['webhook', ...offeredFlags]);
};

const pagesOf = (slug: ChatSlug): AnyPage[] => {
  const path = `${projectRoot}/settings/integrations/${slug}`;
  const { title } = chats[slug];
  return [
    page({
      method: 'GET',
      path,
      audience: 'user',
      params: object(projectPath),
      handle: async (visit, { project: fullPath }) => {
        const connected = await find(visit, fullPath, slug);
        return chatView(visit, { ...connected, slug, state: unsent(toChatValues(connected.hook)) });
      },
    }),
    formPage({
      path,
      audience: 'user',
      address: projectPath,
      fields,
      find: async (visit, { project: fullPath }) => await find(visit, fullPath, slug),
      fromSent: (sent) => new Set(offeredFlags.filter((name) => isTicked(sent[name]))),
      run: async ({ call }, { project }, { project: _path, ...input }) => {
        await setChat(call, project.id, slug, input);
        return redirect(`${integrationsPath(project)}/${slug}`, `${title} was saved.`);
      },
      toProblems: toField,
      view: (visit, connected, state) => chatView(visit, { ...connected, slug, state }),
    }),
    page({
      method: 'POST',
      path: `${path}/delete`,
      audience: 'user',
      params: object(projectPath),
      handle: async (visit, { project: fullPath }) => {
        const { project } = await find(visit, fullPath, slug);
        await deleteChat(visit.call, project.id, slug);
        return redirect(integrationsPath(project), `${title} was removed.`);
      },
    }),
  ];
};

export const chatPages = chatSlugs.flatMap(pagesOf);
