import { endpoint } from '../../core/access/endpoint.ts';
import { boolean, longText, object, optional, string, text } from '../../platform/http/schema.ts';
import { findProject } from '../../projects/projects/find.ts';
import { renderMarkdown } from './render_markdown.ts';

const render = endpoint({
  method: 'POST',
  path: '/markdown',
  summary: 'Render Markdown as HTML',
  area: 'markdown',
  audience: 'optional',
  params: object({
    text: longText('Markdown text'),
    gfm: boolean({ description: 'true: links references such as `#1`', default: false }),
    project: optional(
      text({ maxLength: 1_000, description: 'full path of the project used to resolve references' }),
    ),
  }),
  reply: object({ html: string }),
  handle: async (call, params) => {
    const project = params.project === undefined ? null : await findProject(call, params.project);
    const context = { project, isAbsolute: true, hasReferences: params.gfm };
    return { html: await renderMarkdown(call, params.text, context) };
  },
});

export const markdownRoutes = [render];
