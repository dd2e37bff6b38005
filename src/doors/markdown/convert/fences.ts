import { deflateSync } from 'node:zlib';
import type { Token } from 'markdown-it';
import { highlight } from './highlight.ts';
import { escapeHtml } from '../../../platform/escape_html.ts';
import { markFormula } from './math/parse_formulas.ts';
import type { Environment } from './options.ts';
import { trimEnd } from '../../../platform/trim.ts';

/** Types of diagrams that the diagram server draws, by the language of the fence. */
const diagramTypes: Record<string, string> = {
  mermaid: 'mermaid',
  plantuml: 'plantuml',
  puml: 'plantuml',
  graphviz: 'graphviz',
  dot: 'graphviz',
  ditaa: 'ditaa',
  nomnoml: 'nomnoml',
  erd: 'erd',
  svgbob: 'svgbob',
};

/** Longer addresses are refused by many servers. */
const longestDiagram = 4_000;

/** Returns the address of a diagram in Kroki's form; null if it is too long. */
export const toDiagramUrl = (server: string, type: string, code: string): string | null => {
  const encoded = deflateSync(code).toString('base64url');
  if (encoded.length > longestDiagram) return null;
  return `${trimEnd(server, '/')}/${type}/svg/${encoded}`;
};

const renderDiagram = (language: string, code: string, server: string | null): string | null => {
  const type = Object.hasOwn(diagramTypes, language) ? diagramTypes[language] : undefined;
  if (server === null || type === undefined) return null;
  const url = toDiagramUrl(server, type, code);
  return url === null ? null : `<p><img src="${escapeHtml(url)}" alt="Diagram (${language})"></p>\n`;
};

/** Renders a block of code: highlighted, as an image of the diagram that it describes, or marked as a formula. */
export const renderFence = (token: Token | undefined, environment: Environment): string => {
  if (token === undefined) return '';
  const language = (/^[\w.+#-]{1,50}/.exec(token.info.trim())?.[0] ?? '').toLowerCase();
  const diagram = renderDiagram(language, token.content, environment.diagramServer);
  if (diagram !== null) return diagram;
  if (language === 'math') {
    const mark = markFormula(environment, 'display');
    return `<pre><code class="language-math" data-math="${mark}">${escapeHtml(token.content)}</code></pre>\n`;
  }
  const name = language === '' ? '' : ` class="language-${escapeHtml(language)}"`;
  return `<pre><code${name}>${highlight(token.content, language)}</code></pre>\n`;
};
