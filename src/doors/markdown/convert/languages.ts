/** Names of languages, of files in them, and of the languages inside of others. */

/** Other names and file extensions of a language of highlight.js, by its name. */
const otherNames: Record<string, string> = {
  actionscript: 'as',
  apache: 'apacheconf htaccess',
  asciidoc: 'adoc',
  bash: 'sh zsh ksh ash bashrc zshrc profile envrc',
  c: 'h',
  clojure: 'clj cljs cljc edn',
  cmake: 'cmakelists.txt',
  coffeescript: 'coffee',
  cpp: 'cc cxx c++ hh hpp hxx h++ inl',
  crystal: 'cr',
  csharp: 'cs c#',
  css: 'pcss',
  delphi: 'pas dpr pascal',
  diff: 'patch',
  django: 'jinja jinja2 j2',
  dns: 'zone bind',
  dockerfile: 'docker containerfile',
  dos: 'bat cmd batch',
  elixir: 'ex exs',
  erlang: 'erl hrl',
  fortran: 'f f90 f95 for',
  fsharp: 'fs fsx fsi f#',
  gherkin: 'feature',
  glsl: 'vert frag shader',
  go: 'golang',
  gradle: 'gradle',
  graphql: 'gql',
  groovy: 'jenkinsfile gvy',
  handlebars: 'hbs',
  haskell: 'hs',
  haxe: 'hx',
  ini: 'toml cfg conf editorconfig gitconfig npmrc',
  java: 'jsp',
  javascript: 'js jsx mjs cjs',
  json: 'jsonc json5 webmanifest geojson ipynb',
  julia: 'jl',
  kotlin: 'kt kts',
  latex: 'tex sty cls',
  less: 'less',
  lisp: 'el emacs-lisp cl',
  makefile: 'make mk mak gnumakefile',
  markdown: 'md mkd mdown',
  matlab: 'octave',
  nginx: 'nginxconf',
  objectivec: 'objc m mm obj-c',
  ocaml: 'ml mli',
  perl: 'pl pm t',
  pgsql: 'postgres postgresql',
  plaintext: 'text txt plain log',
  powershell: 'ps1 psm1 psd1 ps pwsh',
  prolog: 'pro',
  properties: 'env',
  protobuf: 'proto',
  puppet: 'pp',
  python: 'py pyi pyw ipython sage',
  'python-repl': 'pycon',
  reasonml: 're',
  ruby: 'rb gemspec podspec rake gemfile rakefile vagrantfile podfile brewfile irb',
  rust: 'rs',
  scala: 'sc sbt',
  scheme: 'scm rkt',
  shell: 'console shellsession shell-session',
  stylus: 'styl',
  tcl: 'tk',
  twig: 'twig',
  typescript: 'ts tsx mts cts',
  vbnet: 'vb',
  vbscript: 'vbs',
  verilog: 'v sv svh',
  vhdl: 'vhd',
  x86asm: 'asm nasm',
  xml: 'html htm xhtml svg rss atom xsd xsl xslt plist vue svelte csproj xaml',
  yaml: 'yml',
};

const byOtherName = new Map(
  Object.entries(otherNames).flatMap(([name, others]) => others.split(' ').map((other) => [other, name])),
);

/** Languages that occur inside of others. */
export const embeddedLanguages: Record<string, string[]> = {
  asciidoc: ['xml'],
  django: ['xml'],
  dockerfile: ['bash'],
  erb: ['xml', 'ruby'],
  haml: ['ruby'],
  handlebars: ['xml'],
  javascript: ['xml', 'css', 'graphql'],
  markdown: ['xml'],
  'php-template': ['xml', 'php'],
  'python-repl': ['python'],
  shell: ['bash'],
  twig: ['xml'],
  typescript: ['xml', 'css', 'graphql'],
  xml: ['css', 'javascript'],
};

/**
 * Returns the language of a name or of a file: `js`, `JavaScript`, `src/main.ts`, `Makefile`. It may be unknown to
 * highlight.js.
 */
export const toLanguage = (languageOrFile: string): string => {
  const name = languageOrFile.slice(languageOrFile.lastIndexOf('/') + 1).toLowerCase();
  const whole = byOtherName.get(name);
  if (whole !== undefined) return whole;
  const extension = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1) : name;
  return byOtherName.get(extension) ?? extension;
};
