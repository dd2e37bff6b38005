/** Renders texts of a project as HTML for the caller, with absolute links. `src/doors/markdown/` implements it. */
import type { Call } from '../../../core/access/call.ts';
import type { Project } from '../find.ts';

type RenderTexts = (call: Call, project: Project, texts: readonly string[]) => Promise<string[]>;

export type HtmlRenderer = {
  markdown: RenderTexts;
  /** Texts of one line, in which only references become links. */
  plain: RenderTexts;
};
