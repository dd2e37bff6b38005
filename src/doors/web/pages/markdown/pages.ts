/** Requests of Markdown editors: the preview, and completions of references. */
import { id, longText, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { actionSets } from '../../../../planning/issuables/text/quick_action_words.ts';
import { findProject } from '../../../../projects/projects/find.ts';
import { RawPage, page } from '../../page.ts';
import { markdown } from '../../parts/markdown.ts';
import { completionKinds, completions } from './complete_references.ts';

/** Returns the rendered text for `parts/markdown_editor.ts`. Opened by itself, it neither runs nor loads anything. */
const preview = page({
  method: 'POST',
  path: '/-/preview_markdown',
  audience: 'user',
  params: object({
    text: longText(),
    project: optional(text({ maxLength: 1_000, description: 'full path' })),
  }),
  handle: async ({ call }, { text: sent, project: fullPath }) => {
    const project = fullPath === undefined ? null : await findProject(call, fullPath);
    const { text: rendered } = await markdown(call, sent, { project });
    return new RawPage(rendered, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; sandbox",
    });
  },
});

/** Answers JSON for `client/editing/complete_references.ts`. */
const complete = page({
  method: 'GET',
  path: '/-/completions',
  audience: 'user',
  params: object({
    kind: oneOf(completionKinds),
    search: optional(text({ maxLength: 100 })),
    project: optional(text({ maxLength: 1_000, description: 'full path' })),
    noun: optional(oneOf(['issues', 'merge_requests'])),
    iid: optional(id()),
    actions: optional(oneOf(actionSets, { description: 'quick actions of `kind=command`' })),
  }),
  handle: async (visit, { kind, search = '', project: fullPath, noun, iid, actions = null }) => {
    const project = fullPath === undefined ? null : await findProject(visit.call, fullPath);
    const target = noun === undefined || iid === undefined ? null : { noun, iid };
    const suggested = await completions[kind](visit, { search, project, target, actions });
    return new RawPage(JSON.stringify(suggested), { 'content-type': 'application/json; charset=utf-8' });
  },
});

export const pages = [preview, complete];
