// Light and dark: as the system has it until the reader chooses, light on paper.

export class Theme {
  #listeners = [];
  #chosen = null;
  #colours = new Map(); // to ask the browser is to have it work out all styles
  #system = matchMedia('(prefers-color-scheme: dark)');

  constructor(button) {
    button.hidden = false;
    button.addEventListener('click', () => {
      this.#chosen = this.dark ? 'light' : 'dark';
      this.#apply();
    });
    this.button = button;
    this.#system.addEventListener('change', () => this.#apply());
    this.#apply();
  }

  get dark() {
    return (this.forced ?? this.#chosen ?? (this.#system.matches ? 'dark' : 'light')) === 'dark';
  }

  // force overrides until it is called with null.
  force(theme) {
    this.forced = theme;
    this.#apply();
  }

  onChange(listener) {
    this.#listeners.push(listener);
  }

  // colour is what the style sheet says for a name such as "ink".
  colour(name) {
    let colour = this.#colours.get(name);
    if (colour === undefined) {
      colour = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
      this.#colours.set(name, colour);
    }
    return colour;
  }

  #apply() {
    this.#colours.clear();
    document.documentElement.dataset.theme = this.dark ? 'dark' : 'light';
    this.button.textContent = this.dark ? 'Light' : 'Dark';
    this.button.setAttribute('aria-label', `Use ${this.dark ? 'light' : 'dark'} colours`);
    this.#listeners.forEach((listener) => listener());
  }
}
