/** The preview of Markdown texts that are being written. */
import { longText, object, optional, text } from '../../../../platform/http/schema.ts';
import { findProject } from '../../../../projects/projects/find.ts';
import { RawPage, page } from '../../page.ts';
import { markdown } from '../../parts/markdown.ts';

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

export const pages = [preview];
