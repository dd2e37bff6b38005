/** Types of packages that declare none. Those of sanitize-html from npm would add the types of a browser to everything. */
declare module 'markdown-it-footnote' {
  import type { MarkdownIt } from 'markdown-it';

  const plugin: (parser: MarkdownIt) => void;
  export default plugin;
}

declare module 'markdown-it-emoji/lib/data/full.mjs' {
  const names: Record<string, string>;
  export default names;
}

declare module 'sanitize-html' {
  type Options = {
    allowedTags: string[];
    allowedAttributes: Record<string, string[]>;
    allowedClasses: Record<string, (string | RegExp)[]>;
    allowedSchemes: string[];
    allowedSchemesAppliedToAttributes: string[];
    allowProtocolRelative: boolean;
    disallowedTagsMode: 'discard';
    nonTextTags: string[];
    nestingLimit: number;
    parseStyleAttributes: false;
  };

  const sanitizeHtml: (html: string, options: Options) => string;
  export default sanitizeHtml;
}

declare module 'temml' {
  type Options = {
    displayMode: boolean;
    throwOnError: boolean;
    trust: boolean;
    maxExpand: number;
    maxSize: [width: number, height: number];
    macros: Record<string, string>;
  };

  const temml: { renderToString: (tex: string, options: Options) => string };
  export default temml;
}
