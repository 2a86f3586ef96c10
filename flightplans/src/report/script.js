// Heights on and off, and a tapped photo keeps its footprint.
for (const box of document.querySelectorAll('[data-toggle]')) {
  box.addEventListener('change', () => {
    for (const part of document.querySelectorAll(box.dataset.toggle)) {
      part.style.display = box.checked ? '' : 'none';
    }
  });
}
const hint = document.getElementById('hint');
for (const photo of document.querySelectorAll('.photo')) {
  const say = () => { hint.textContent = photo.querySelector('title').textContent; };
  photo.addEventListener('mouseenter', say);
  photo.addEventListener('click', () => { photo.classList.toggle('picked'); say(); });
}
