# SPDX-License-Identifier: GPL-2.0-or-later
"""The data of the programs in latecomers.py: small, and the same for the same seed."""
import os
import random
import subprocess

import data
import held_out_data


def make_nifti(root):
    """Volumes of voxels, not compressed, so that they can be mapped."""
    import nibabel
    import numpy
    os.makedirs(root)
    for number in range(24):
        voxels = (data.samples(1, (96, 96, 150))[0] * 1000).astype("int16")
        nibabel.save(nibabel.Nifti1Image(voxels, numpy.eye(4)), os.path.join(root, "%03d.nii" % number))


def make_dicom(root):
    """Slices of one study, a file each."""
    import numpy
    import pydicom
    from pydicom.dataset import FileDataset, FileMetaDataset
    os.makedirs(root)
    pixels = numpy.random.default_rng(data.SEED).integers(0, 4096, (420, 420), dtype=numpy.uint16).tobytes()
    for number in range(150):
        path = os.path.join(root, "%04d.dcm" % number)
        meta = FileMetaDataset()
        meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.2"
        meta.MediaStorageSOPInstanceUID = "1.2.3.%d" % number
        meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
        slice_ = FileDataset(path, {}, file_meta=meta, preamble=b"\0" * 128)
        slice_.is_little_endian, slice_.is_implicit_VR = True, False
        slice_.Rows = slice_.Columns = 420
        slice_.BitsAllocated = slice_.BitsStored = 16
        slice_.HighBit, slice_.PixelRepresentation, slice_.SamplesPerPixel = 15, 0, 1
        slice_.PhotometricInterpretation, slice_.InstanceNumber = "MONOCHROME2", number
        slice_.PixelData = pixels
        slice_.save_as(path, write_like_original=False)


def make_geotiff(root):
    """One picture of tiles."""
    from osgeo import gdal
    import numpy
    os.makedirs(root)
    picture = gdal.GetDriverByName("GTiff").Create(os.path.join(root, "scene.tif"), 8192, 8192, 1, gdal.GDT_UInt16,
                                                   ["TILED=YES"])
    rows = numpy.random.default_rng(data.SEED).integers(0, 60000, (256, 8192), dtype=numpy.uint16)
    for at in range(0, 8192, 256):
        picture.GetRasterBand(1).WriteArray(rows, 0, at)
    picture.FlushCache()


def bases(rng):
    return "".join(rng.choice("ACGT") for _ in range(1 << 16))


def make_fasta(root):
    """Shards of sequences."""
    rng = random.Random(data.SEED)
    os.makedirs(root)
    letters = bases(rng)
    for number in range(4):
        with open(os.path.join(root, "part-%d.fa" % number), "w", encoding="ascii") as file:
            for row in range(6000):
                start, size = rng.randrange(1 << 15), rng.randrange(500, 6000)
                text = letters[start:start + size]
                file.write(">s%d_%d\n" % (number, row) + "\n".join(text[at:at + 60] for at in range(0, size, 60)) + "\n")


def make_bam(root):
    """Alignments in blocks that are compressed each by itself."""
    rng = random.Random(data.SEED)
    os.makedirs(root)
    sam = os.path.join(root, "reads.sam")
    letters = bases(rng)
    with open(sam, "w", encoding="ascii") as file:
        file.write("@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:one\tLN:100000000\n")
        for row in range(250000):
            start = rng.randrange(1 << 15)
            quality = "".join(map(chr, (33 + byte % 40 for byte in rng.randbytes(30)))) * 5
            file.write("r%d\t0\tone\t%d\t60\t150M\t*\t0\t0\t%s\t%s\n" % (row, row * 300 + 1, letters[start:start + 150], quality))
    subprocess.run(["samtools", "view", "-b", "-o", os.path.join(root, "reads.bam"), sam], check=True)
    os.unlink(sam)


def make_science(root):
    held_out_data.put_packages(root, ("sklearn", "joblib", "threadpoolctl", "scipy", "numpy", "dask", "yaml", "toolz", "tlz", "fsspec",
                                      "cloudpickle", "locket", "partd", "pandas", "pytz", "dateutil", "six"),
                               ("tests", "__pycache__"))


def make_netcdf_classic(root):
    """The older format, which readers may map."""
    import scipy.io
    os.makedirs(root)
    with scipy.io.netcdf_file(os.path.join(root, "samples.nc"), "w") as file:
        for name, size in (("n", 1500), ("y", 96), ("x", 96)):
            file.createDimension(name, size)
        file.createVariable("v", "f8", ("n", "y", "x"))[:] = data.samples(1500)
